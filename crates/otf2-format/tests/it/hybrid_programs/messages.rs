//! Messages from one process to another.

use retime_otf2::{CommRef, EventData};

use super::network::{How, Receive, Send};
use super::program::{Proof, Step};
use super::random::Random;
use super::script::{Pending, Script};
use super::world::{ANY, Comm};

/// What is used of a channel: whether its pairs can be known from the records.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) key: (CommRef, usize, usize, u32),
    pub(super) is_exact: bool,
    pub(super) is_probed: bool,
}

/// The channels of a program, and how its receives are recorded.
pub(super) struct Channels {
    pub(super) all: Vec<Channel>,
    /// Whether probes are.
    records_probes: bool,
    /// Whether a request is recorded before it is posted.
    records_first: bool,
}

impl Channels {
    pub(super) fn new(random: &mut Random) -> Self {
        Self {
            all: Vec::new(),
            records_probes: random.percent(50),
            records_first: random.percent(50),
        }
    }

    fn number(&mut self, key: (CommRef, usize, usize, u32)) -> usize {
        let known = self.all.iter().position(|it| it.key == key);
        known.unwrap_or_else(|| {
            self.all.push(Channel {
                key,
                is_exact: true,
                is_probed: false,
            });
            self.all.len() - 1
        })
    }
}

/// Messages that belong together: sent and received by threads of two processes.
struct Talk {
    comm: CommRef,
    from: usize,
    to: usize,
    sender: usize,
    receiver: usize,
    /// Threads are drawn anew for each message.
    is_shared: bool,
    tag: u32,
}

impl Script<'_> {
    pub(super) fn messages(&mut self) {
        let Some(talk) = self.talk() else { return };
        let messages = 1 + self.random.below(4);
        let to_itself = talk.from == talk.to;
        for _ in 0..messages {
            let (mut sender, mut receiver) = (talk.sender, talk.receiver);
            if talk.is_shared {
                (sender, receiver) = (self.caller(talk.from), self.caller(talk.to));
            }
            let tag = if talk.comm == ANY {
                self.random.below(2) as u32
            } else {
                talk.tag
            };
            let is_buffered = to_itself || talk.is_shared || talk.comm == ANY;
            self.send(sender, &talk, tag, is_buffered);
            self.receive(receiver, &talk, tag);
            if self.random.percent(30) {
                self.complete_some(receiver);
            }
        }
        if self.random.percent(50) {
            self.complete_some(talk.sender);
        }
    }

    fn talk(&mut self) -> Option<Talk> {
        let comm = CommRef(self.random.below(self.world.comms.len()) as u32);
        let members = match self.world.of(comm) {
            Comm::Threads(..) => return None,
            Comm::Own => {
                let process = self.any_process();
                vec![(process, 0), (process, 0)]
            }
            other => other.processes(self.world.processes.len()),
        };
        let (from, side) = *self.random.pick(&members);
        let is_inter = matches!(self.world.of(comm), Comm::Inter(..));
        let is_own = matches!(self.world.of(comm), Comm::Own);
        let fits = |it: &&(usize, usize)| {
            (!is_inter || it.1 != side) && (is_own || is_inter || it.0 != from || from % 2 == 1)
        };
        let others: Vec<usize> = members.iter().filter(fits).map(|it| it.0).collect();
        if others.is_empty() {
            return None;
        }
        let to = *self.random.pick(&others);
        let (sender, receiver) = (self.caller(from), self.caller(to));
        let is_shared = self.world.multiple && self.random.percent(40) && comm != ANY;
        let own = (sender * self.world.locations.len() + receiver) as u32;
        let tag = if is_shared {
            self.random.below(2) as u32
        } else {
            // One for each pair of threads, so that nobody shares it.
            10 + 2 * own + self.random.below(2) as u32
        };
        Some(Talk {
            comm,
            from,
            to,
            sender,
            receiver,
            is_shared,
            tag,
        })
    }

    fn send(&mut self, thread: usize, talk: &Talk, tag: u32, is_buffered: bool) {
        let channel = (talk.comm, talk.from, talk.to, tag);
        let channel = self.channels.number(channel);
        let any_time = self.world.multiple || !self.channels.records_probes;
        if talk.is_shared || talk.comm == ANY && any_time {
            self.channels.all[channel].is_exact = false;
        }
        let length = 8 + self.random.below(3) as u64;
        let send = self.sends.len();
        self.sends.push(Send {
            comm: talk.comm,
            from: talk.from,
            to: talk.to,
            tag,
            length,
            channel,
            recorded: None,
            departed: None,
            accepted: None,
        });
        let (receiver, communicator) = (self.world.of(talk.comm).rank(talk.to), talk.comm);
        let request = self.number();
        let plain = Step::Record(EventData::MpiSend {
            receiver,
            communicator,
            tag,
            length,
        });
        let started = Step::Record(EventData::MpiIsend {
            receiver,
            communicator,
            tag,
            length,
            request,
        });
        let (sent, depart) = (Step::Sent(send), Step::Depart(send));
        let kinds = if is_buffered { 6 } else { 9 };
        let complete = |wait| Pending {
            wait,
            record: Step::Record(EventData::MpiIsendComplete { request }),
        };
        match self.random.below(kinds) {
            0 => self.call(thread, "MPI_Send", vec![plain, sent, depart]),
            1 => self.call(thread, "MPI_Bsend", vec![plain, sent, depart]),
            2 => self.call(thread, "MPI_Sendrecv", vec![plain, sent, depart]),
            3 | 4 => {
                self.call(thread, "MPI_Isend", vec![started, sent, depart]);
                self.pending[thread].push(complete(Step::Await(Vec::new(), Proof::Unused)));
            }
            5 => {
                self.call(thread, "MPI_Send_init", Vec::new());
                self.call(thread, "MPI_Start", vec![started, sent, depart]);
                self.pending[thread].push(complete(Step::Await(Vec::new(), Proof::Unused)));
            }
            6 => {
                let accepted = Step::Accepted(send, Proof::Posting(channel));
                let steps = vec![plain, sent, depart, accepted];
                self.call(thread, "MPI_Ssend", steps);
            }
            7 => {
                self.call(thread, "MPI_Issend", vec![started, sent, depart]);
                let accepted = Step::Accepted(send, Proof::Posting(channel));
                self.pending[thread].push(complete(accepted));
            }
            _ => {
                self.call(thread, "MPI_Ssend_init", Vec::new());
                self.call(thread, "MPI_Start", vec![started, sent, depart]);
                self.pending[thread].push(complete(Step::Accepted(send, Proof::Unused)));
            }
        }
    }

    fn receive(&mut self, thread: usize, talk: &Talk, tag: u32) {
        let channel = (talk.comm, talk.from, talk.to, tag);
        let channel = self.channels.number(channel);
        let is_any = talk.comm == ANY;
        let request = self.number();
        let (message, receive) = (self.number(), self.receives.len());
        self.receives.push(Receive {
            comm: talk.comm,
            from: (!is_any).then_some(talk.from),
            tag: (!is_any).then_some(tag),
            how: How::Plain,
            message,
            posted: None,
            send: None,
            cancelled: false,
        });
        let (post, matched) = (Step::Post(receive), Step::Matched(receive));
        let received = Step::Received(receive);
        let requested = Step::Record(EventData::MpiIrecvRequest { request });
        let mut posting = vec![post.clone(), requested];
        if self.channels.records_first {
            posting.reverse();
        }
        let complete = Pending {
            wait: matched.clone(),
            record: received.clone(),
        };
        match self.random.below(100) {
            0..30 => self.call(thread, "MPI_Recv", vec![post, matched, received]),
            30..35 => self.call(thread, "MPI_Sendrecv", vec![post, matched, received]),
            35..65 => {
                self.receives[receive].how = How::Request(request);
                self.call(thread, "MPI_Irecv", posting);
                self.pending[thread].push(complete);
            }
            65..75 => {
                self.receives[receive].how = How::Request(request);
                self.call(thread, "MPI_Recv_init", Vec::new());
                self.call(thread, "MPI_Start", posting);
                self.pending[thread].push(complete);
            }
            75..78 if !is_any => {
                // It is received, and nobody hears of that.
                self.channels.all[channel].is_exact = false;
                self.receives[receive].how = How::Request(request);
                self.call(thread, "MPI_Irecv", posting);
                self.call(thread, "MPI_Request_free", Vec::new());
            }
            75..83 => self.cancelled(thread, receive, request, posting),
            _ => self.probed(thread, receive, request, channel),
        }
    }

    /// One that is posted too much is cancelled, unless it has a message by then: so is
    /// the next one.
    fn cancelled(&mut self, thread: usize, receive: usize, request: u64, posting: Vec<Step>) {
        self.receives[receive].how = How::Request(request);
        self.call(thread, "MPI_Irecv", posting);
        let (matched, received) = (Step::Matched(receive), Step::Received(receive));
        let cancel = Step::Cancel(receive, request);
        self.call(thread, "MPI_Cancel", vec![cancel]);
        self.call(thread, "MPI_Wait", vec![matched, received]);
        let mut again = self.receives[receive].clone();
        again.how = How::Plain;
        let second = self.receives.len();
        self.receives.push(again);
        let instead = Step::Instead(receive, second);
        let (matched, received) = (Step::Matched(second), Step::Received(second));
        self.call(thread, "MPI_Recv", vec![instead, matched, received]);
    }

    fn probed(&mut self, thread: usize, receive: usize, request: u64, channel: usize) {
        let probe = Step::Probe(receive);
        let received = Step::Received(receive);
        let message = self.receives[receive].message;
        let starts = self.random.percent(40);
        let records = self.channels.records_probes;
        self.channels.all[channel].is_exact &= records;
        self.channels.all[channel].is_probed = true;
        let name = *self.random.pick(&["MPI_Mprobe", "MPI_Improbe"]);
        let mut steps = vec![probe];
        if records {
            steps.push(Step::Probed(receive));
        }
        self.call(thread, name, steps);
        self.receives[receive].how = match (starts, records) {
            (false, false) => How::Plain,
            (false, true) => How::Probed(message),
            (true, false) => How::Request(request),
            (true, true) => How::ProbedRequest(request),
        };
        if !starts {
            let matched = Step::Matched(receive);
            return self.call(thread, "MPI_Mrecv", vec![matched, received]);
        }
        let requested = if records {
            EventData::MpiImrecvRequest { message, request }
        } else {
            EventData::MpiIrecvRequest { request }
        };
        self.call(thread, "MPI_Imrecv", vec![Step::Record(requested)]);
        self.pending[thread].push(Pending {
            wait: Step::Matched(receive),
            record: received,
        });
    }
}
