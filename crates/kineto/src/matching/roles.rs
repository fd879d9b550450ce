//! Who waits for whom in an operation, by its class, its root and its sizes.

use retime_model::{Class, Operation};

use super::calls::{Calls, Group, Instance};
use super::reasons::{ALONE, NO_ORDER, NO_ROOT};
use super::uneven::{Exchange, ExchangeMember};
use crate::call::What;

/// The part of a member in an operation.
pub(super) struct MemberRole {
    /// Rank in the group.
    pub(super) rank: u32,
    /// True if others wait for its begin.
    pub(super) is_cause: bool,
    /// True if its end waits for others.
    pub(super) is_effect: bool,
}

/// The parts of all members of an operation, in the order of its calls.
pub(super) struct MemberRoles {
    pub(super) class: Class,
    pub(super) members: Vec<MemberRole>,
}

impl MemberRoles {
    /// The parts of calls that are one operation, or why nobody waits for anybody in it.
    pub(super) fn of(
        calls: &Calls<'_>,
        group: &Group,
        instance: &Instance,
    ) -> Result<Self, &'static str> {
        let &[(file, call), _, ..] = &**instance else {
            return Err(ALONE);
        };
        let Some(What::Collective(operation)) = calls.call(file, call).map(|it| it.what) else {
            return Err(NO_ORDER);
        };
        let rooted = || root(calls, operation, instance).ok_or(NO_ROOT);
        let exchange = || Exchange::of(&members(calls, group, instance));
        let (class, root, exchange) = match operation.class(false) {
            Class::None if operation == Operation::Alltoallv => {
                (Class::AllToAll, None, Some(exchange()))
            }
            Class::None | Class::Prefix => return Err(NO_ORDER),
            // As much goes as comes, but who gets nothing from somebody does not wait for that one.
            Class::AllToAll if have_empty(calls, operation, instance) => return Err(NO_ORDER),
            Class::AllToAll => (Class::AllToAll, None, None),
            rooted_class => (rooted_class, Some(rooted()?), None),
        };
        let role = |&(file, call): &(usize, usize)| {
            let rank = rank_in(calls, group, file);
            // The root waits for itself in no way that another clock takes part in.
            let (is_cause, is_effect) = match (class, &exchange) {
                (_, Some(it)) => (it.causes.contains(&rank), it.effects.contains(&rank)),
                (Class::OneToAll, _) => (root == Some(rank), root != Some(rank)),
                (Class::AllToOne, _) => (root != Some(rank), root == Some(rank)),
                _ => {
                    let is_empty = calls.call(file, call).is_none_or(|it| it.is_empty);
                    (!is_empty, !is_empty)
                }
            };
            MemberRole {
                rank,
                is_cause,
                is_effect,
            }
        };
        let roles = Self {
            class,
            members: instance.iter().map(role).collect(),
        };
        match (roles.order_anybody(), root) {
            (true, _) => Ok(roles),
            (false, Some(_)) => Err(ALONE),
            (false, None) => Err(NO_ORDER),
        }
    }

    pub(super) fn begins(&self) -> u32 {
        self.members.iter().filter(|it| it.is_cause).count() as u32
    }

    pub(super) fn ends(&self) -> u32 {
        self.members.iter().filter(|it| it.is_effect).count() as u32
    }

    /// True if somebody waits for another.
    fn order_anybody(&self) -> bool {
        let alone = |it: &MemberRole| it.is_cause && it.is_effect;
        match (self.begins(), self.ends()) {
            (0, _) | (_, 0) => false,
            (1, 1) => !self.members.iter().any(alone),
            _ => true,
        }
    }
}

/// The rank of a file in a group.
fn rank_in(calls: &Calls<'_>, group: &Group, file: usize) -> u32 {
    let rank = calls.rank(file);
    let place = group.ranks.iter().position(|it| Some(*it) == rank);
    place.map_or(u32::MAX, |it| it as u32)
}

/// The members of an exchange of unequal sizes.
fn members<'a>(calls: &Calls<'a>, group: &Group, instance: &Instance) -> Vec<ExchangeMember<'a>> {
    let member = |&(file, call): &(usize, usize)| ExchangeMember {
        rank: rank_in(calls, group, file),
        nothing_from: calls
            .call(file, call)
            .and_then(|it| it.nothing_from.as_deref()),
    };
    instance.iter().map(member).collect()
}

/// True if a member has asked for an operation of this kind with empty parts.
fn have_empty(calls: &Calls<'_>, operation: Operation, instance: &Instance) -> bool {
    let mut files = instance.iter().filter_map(|it| calls.files.get(it.0));
    files.any(|it| it.requests.get(&operation).is_some_and(|it| it.have_empty))
}

/// The root that all members agree on.
fn root(calls: &Calls<'_>, operation: Operation, instance: &Instance) -> Option<u32> {
    let root = |&(file, call): &(usize, usize)| calls.root(file, call, operation);
    let mut roots = instance.iter().map(root);
    let first = roots.next()??;
    roots.all(|it| it == Some(first)).then_some(first)
}
