//! A process and its streams: what follows which of its calls.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use retime_model::LocationIndex;

use super::activities::{Awaited, Host, Site, Stream, Wait};
use super::embedding::LaunchPlaces;

/// An event by its location and number.
type Place = (LocationIndex, u64);

/// Causes that all precede all effects; there is one of at least one kind.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) causes: Vec<Place>,
    pub(super) effects: Vec<Place>,
    /// True if the cause is a launch, and not a wait the effect.
    is_launch: bool,
}

impl Edge {
    /// The activities that begin by it.
    pub(super) fn begun(&self) -> &[Place] {
        if self.is_launch { &self.effects } else { &[] }
    }
}

/// The threads of a process, and all streams that it gives something to do.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) hosts: Vec<Host>,
    pub(super) streams: Vec<Stream>,
}

/// The launches and activities of a call site, or of all launches without one.
#[derive(Default)]
struct Launched {
    launches: usize,
    activities: usize,
    hosts: BTreeSet<usize>,
    contexts: BTreeSet<usize>,
}

impl Launched {
    /// True if the launches of this one can be told.
    fn is_certain(&self, site: Site) -> bool {
        let complete = match site {
            Site::Kernel(Some(_)) => self.launches >= self.activities,
            Site::Kernel(None) | Site::Copy => self.launches == self.activities,
        };
        complete && self.hosts.len() == 1
    }
}

/// The activities, kernels or copies, that a stream carried out for one thread: where they are, and
/// from which launches they can have come.
struct Carried {
    activities: Vec<usize>,
    bounds: Vec<(usize, usize)>,
    /// So many are known to be launched before a wait that was looked at.
    waited: usize,
}

impl Family {
    /// All that is certain.
    pub(super) fn edges(&self) -> Vec<Edge> {
        let complete = self.hosts.iter().all(|it| it.is_complete)
            && self.streams.iter().all(|it| it.is_complete);
        if !complete {
            return Vec::new();
        }
        let sites = self.sites();
        let mut edges = Vec::new();
        for (number, host) in self.hosts.iter().enumerate() {
            let places = LaunchPlaces::of(host.launches.iter().map(|it| it.site));
            let own = |site: Site| {
                let launched = sites.get(&site);
                launched.is_some_and(|it| it.is_certain(site) && it.hosts.contains(&number))
            };
            let mut carried: Vec<Vec<Carried>> = Vec::new();
            for stream in &self.streams {
                carried.push(stream.carried(&places, own));
            }
            self.launches(host, &carried, &mut edges);
            for wait in &host.waits {
                edges.extend(self.wait(host, *wait, &sites, &mut carried));
            }
        }
        edges
    }

    fn sites(&self) -> HashMap<Site, Launched> {
        let mut sites: HashMap<Site, Launched> = HashMap::new();
        for (number, host) in self.hosts.iter().enumerate() {
            for launch in &host.launches {
                let site = sites.entry(launch.site).or_default();
                site.launches += 1;
                site.hosts.insert(number);
            }
        }
        for stream in &self.streams {
            for activity in &stream.activities {
                let site = sites.entry(activity.site).or_default();
                site.activities += 1;
                site.contexts.insert(stream.context);
            }
        }
        sites
    }

    /// The launches of a thread, each with what must have come after it.
    fn launches(&self, host: &Host, carried: &[Vec<Carried>], edges: &mut Vec<Edge>) {
        let mut effects: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
        for (stream, carried) in self.streams.iter().zip(carried) {
            for carried in carried {
                for (&activity, &(earliest, _)) in carried.activities.iter().zip(&carried.bounds) {
                    let begin = stream.activities[activity].begin;
                    let effects = effects.entry(earliest).or_default();
                    effects.push((stream.location, begin));
                }
            }
        }
        edges.extend(effects.into_iter().map(|(launch, effects)| Edge {
            causes: vec![(host.location, host.launches[launch].event)],
            effects,
            is_launch: true,
        }));
    }

    /// True if nobody but the thread that waits for an event has recorded it.
    fn events_are_known(&self) -> bool {
        let recorders = self.hosts.iter().filter(|it| it.records_events);
        recorders.count() < 2 && !self.hosts.iter().any(|it| it.shares_events)
    }

    /// Finds the activities that must have ended when a thread has waited.
    fn wait(
        &self,
        host: &Host,
        wait: Wait,
        sites: &HashMap<Site, Launched>,
        carried: &mut [Vec<Carried>],
    ) -> Option<Edge> {
        let is_awaited: &dyn Fn(&Stream) -> bool = match wait.on {
            Awaited::Device(last) => {
                let last = host.launches.get(last?)?;
                let contexts = &sites.get(&last.site)?.contexts;
                let context = *contexts.first().filter(|_| contexts.len() == 1)?;
                &move |it| it.context == context
            }
            Awaited::Event(_) if !self.events_are_known() => return None,
            Awaited::Stream(stream) | Awaited::Event(stream) => &move |it| it.location == stream,
        };
        let own = self.streams.iter().zip(carried);
        let own = own.filter(|(stream, _)| is_awaited(stream));
        // What a stream has ended last says it of all before.
        let ended = own.filter_map(|(stream, carried)| {
            let ends = carried.iter_mut().filter_map(|it| it.ended(stream, wait));
            Some((stream.location, ends.max()?))
        });
        let causes: Vec<Place> = ended.collect();
        (!causes.is_empty()).then(|| Edge {
            causes,
            effects: vec![(host.location, wait.event)],
            is_launch: false,
        })
    }
}

impl Stream {
    /// Collects what the stream carried out of call sites that are a thread's own, kernels and
    /// copies each for themselves; what does not fit is left out.
    fn carried(&self, places: &LaunchPlaces<Site>, own: impl Fn(Site) -> bool) -> Vec<Carried> {
        let of = |copies: bool| {
            let all = self.activities.iter().enumerate();
            let own = all.filter(|(_, it)| (it.site == Site::Copy) == copies && own(it.site));
            let (activities, sites): (Vec<usize>, Vec<Site>) =
                own.map(|(number, it)| (number, it.site)).unzip();
            let bounds = places.embed(&sites)?;
            Some(Carried {
                activities,
                bounds,
                waited: 0,
            })
        };
        [false, true].into_iter().filter_map(of).collect()
    }
}

impl Carried {
    /// The last end that a wait proves and no earlier wait of the thread.
    fn ended(&mut self, stream: &Stream, wait: Wait) -> Option<u64> {
        let before = |(_, latest): &(usize, usize)| *latest < wait.launched;
        let launched = self.bounds.partition_point(before);
        if launched <= self.waited {
            return None;
        }
        self.waited = launched;
        let last = *self.activities.get(launched - 1)?;
        stream.activities.get(last)?.end
    }
}
