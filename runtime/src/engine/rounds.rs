//! Rounds: two threads run side by side, both are joined, and then two others do.
//!
//! T is one line, and so is T': in each round T goes on as one of the round's two threads, by the same position in the
//! order in which the threads are created, and T' as the other one. Both logs go on. The engine counts non-local reads over
//! all rounds, so that k-coupled means what it means for one round: at most k reads of T see a write of T' that T had not
//! seen before.
//!
//! # What the values are when a round begins
//! All of the round before is over by then, and each variable holds what was written to it last. Where T' has written a
//! variable and T has not seen that write, T reads the variable once when the round begins:
//! - If no interleaving has T's value last, that read is no choice, and not counted: what T' has left there is there.
//! - If both may be last, the read is a choice like any other one.
//!
//! Then both threads of the new round begin with these values: T' sees what T has written in the rounds before, which is no
//! interference, since no order is left open. So every k-coupled trace is executed: of the trace's variables at each
//! round's begin, those that hold a write of T' which might have come before T's last one are non-local reads of T, there or
//! in the round.
//!
//! # How that is logged
//! An object begins each round as a new one, with a number of its own, when it is first used in the round. So nothing of
//! what reads see reaches from round to round. Two extra variables order the rounds in both logs: T' writes the first one at
//! the end of a round, and T's join is the read of that write. T reads the initial value of the second one when the next
//! round begins, so that T' writes that one, and goes on, after that.
//!
//! Feasibility knows nothing of rounds: the logs are logs of two threads like others.

use super::tau;
use super::threads::ThreadNo;
use super::{Engine, Handle, InterferingEnd, Line, NONE, ValueKind, number};
use crate::log::{Object, Op, TEvent};
use crate::memory::{Buffer, outside};
use crate::vocabulary::Site;

/// Where a round is over in both logs.
#[derive(Clone, Copy, Debug)]
struct Seam {
    /// The index of T's join in the log of T.
    join: u32,
    /// The numbers of events of T, and of T', up to here; for T', with the write that T's join reads.
    under_test: u32,
    interfering: u32,
    /// The variable that T's join reads.
    end: Object,
    parties: Option<(ThreadNo, ThreadNo)>,
}

/// The rounds of an execution that are over.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    seams: Buffer<Seam>,
    /// The objects that have begun a later round under another number, each with the number of the round before.
    renamed: Buffer<(Object, Object)>,
    /// The log of T' in the first round: it depends on the inputs alone.
    first: Buffer<Op>,
}

impl Rounds {
    /// Another execution begins.
    pub(super) fn clear(&mut self) {
        self.seams.clear();
        self.renamed.clear();
    }

    /// The program may be another one from here on.
    pub(super) fn forget(&mut self) {
        self.first.clear();
    }

    /// The number of rounds that are over.
    pub(super) fn over(&self) -> usize {
        self.seams.len()
    }
}

/// Why a round can't begin now; `None` if it can.
fn obstacle(engine: &Engine) -> Option<&'static str> {
    if !engine.held.is_empty() || !engine.inherited.is_empty() || !engine.init_locks.is_empty() {
        return Some("and a lock is held meanwhile, which the sequential program does not follow");
    }
    if !engine.open.is_empty() {
        return Some("and one has ended with a lock, which the sequential program does not follow");
    }
    engine.uses_channels.then_some(
        "and a channel has been used before, which the sequential program does not follow",
    )
}

/// Called where T has joined T' and others are about to run side by side: begins a round. `Err` says why none can begin.
pub(super) fn begin(handle: Handle, site: Site) -> Result<(), Option<&'static str>> {
    let engine = handle.get();
    let is_whole = matches!(
        engine.interfering_end,
        InterferingEnd::Complete | InterferingEnd::WaitsForUnderTest(..)
    );
    if engine.line != Line::UnderTest || !engine.joined || !is_whole {
        return Err(None);
    }
    if engine.is_of_several() {
        return Err(Some(
            "and more than two ran side by side before, which the sequential program does not follow",
        ));
    }
    if let Some(why) = obstacle(engine) {
        return Err(Some(why));
    }
    let hidden = std::mem::replace(&mut engine.opening_log, true);
    let first = engine.first_of_round;
    for object in first..number(engine.objects.len()) {
        tau::read_at_end_of_round(handle, object, site);
        if handle.get().quiet {
            // The execution has been ended, and runs on.
            handle.get().opening_log = hidden;
            return Ok(());
        }
    }
    let engine = handle.get();
    engine.end_round(site);
    engine.opening_log = hidden;
    Ok(())
}

impl Engine {
    /// Writes the seam between two rounds into both logs.
    fn end_round(&mut self, site: Site) {
        if self.rounds.over() == 0 {
            self.rounds.first.clear();
            self.rounds.first.extend_from_slice(&self.interfering);
        }
        let end = self.new_object(ValueKind::Opaque);
        let begin = self.new_object(ValueKind::Opaque);
        super::tau_prime::push(self, Op::Write(end), site, 0);
        let events = self.under_test().iter();
        let join = events.clone().rposition(|event| event.op == Op::Join);
        let seam = Seam {
            join: join.map_or(NONE, number),
            under_test: number(events.len()),
            interfering: number(self.interfering.len()),
            end,
            parties: self.threads.parties,
        };
        self.rounds.seams.push(seam);
        super::tau_prime::push(self, Op::Write(begin), site, 0);
        // The grid learns of it when the log of T' is whole.
        tau::push(self, Op::Read(begin), None, site, 0);
        self.first_of_round = number(self.objects.len());
        self.tied = true;
        self.joined = false;
        self.interfering_end = InterferingEnd::Open;
        self.interfering_waits = false;
        self.racy_accesses.clear();
        self.spin.begin_round();
        self.threads.begin_round();
        self.line = Line::Init;
    }

    /// The log of T' is whole as far as this round goes: T's log goes on beside it.
    pub(super) fn reopen(&mut self) {
        let interfering = self.interfering.len();
        self.lay_out(interfering);
    }

    /// Has the grid hold T's events beside the first events of T', with T's joins as reads.
    fn lay_out(&mut self, interfering: usize) {
        let events = outside(|| self.grid.events().to_vec());
        self.grid.begin(&self.interfering[..interfering]);
        let mut seams = self.rounds.seams.iter().peekable();
        for (at, event) in (0_u32..).zip(&events) {
            let seam = seams.next_if(|seam| seam.join == at);
            self.grid.push(seam.map_or(*event, |seam| {
                TEvent::non_local(Op::Read(seam.end), seam.interfering - 1)
            }));
        }
        outside(|| drop(events));
    }

    /// Whether this log of T', of the first round, is that of the execution before.
    pub(super) fn is_first_round_of_before(&self) -> bool {
        self.rounds.first[..] == self.interfering[..]
    }

    /// Takes back all events of T but the first `events`, and of T' all that come after the round of these.
    pub(super) fn go_back_to(&mut self, events: usize) {
        self.truncate_under_test(events);
        let seam = self.seam_after(events);
        if let Some(seam) = seam {
            let interfering = seam.interfering as usize;
            self.interfering.truncate(interfering);
            self.interfering_trail.truncate(interfering);
            self.lay_out(interfering);
        }
    }

    /// The end of the round that this event of T's log is in, if that is over.
    fn seam_after(&self, events: usize) -> Option<Seam> {
        let mut seams = self.rounds.seams.iter();
        seams
            .find(|seam| events <= seam.under_test as usize)
            .copied()
    }

    /// The threads that ran side by side when T had made that many events.
    pub(super) fn parties_at(&self, events: usize) -> Option<(ThreadNo, ThreadNo)> {
        match self.seam_after(events) {
            Some(seam) => seam.parties,
            None => self.threads.parties,
        }
    }

    /// The event as reports tell of it: an object has the number that it had in the first round, and T's joins are joins.
    pub(super) fn for_reports(&self, event: TEvent) -> TEvent {
        if event.op == Op::Join {
            return TEvent::local(Op::Join);
        }
        if self.rounds.over() == 0 {
            return event;
        }
        let is_end = |object| self.rounds.seams.iter().any(|seam| seam.end == object);
        let op = match event.op {
            Op::Read(object) if event.source.is_some() && is_end(object) => {
                return TEvent::local(Op::Join);
            }
            Op::Read(object) => Op::Read(self.first_number(object)),
            Op::Write(object) => Op::Write(self.first_number(object)),
            Op::Update(object) => Op::Update(self.first_number(object)),
            Op::Acquire(lock, mode) => Op::Acquire(self.first_number(lock), mode),
            Op::Release(lock, mode) => Op::Release(self.first_number(lock), mode),
            Op::TryFail(lock, mode) => Op::TryFail(self.first_number(lock), mode),
            Op::Join => Op::Join,
        };
        TEvent { op, ..event }
    }

    fn first_number(&self, mut object: Object) -> Object {
        let renamed = &self.rounds.renamed;
        while let Ok(at) = renamed.binary_search_by_key(&object, |&(new, _)| new) {
            object = renamed[at].1;
        }
        object
    }

    /// Whether the object with this number was used in a round that is over, and not yet in this one.
    #[inline(always)]
    pub(crate) const fn is_of_earlier_round(&self, object: Object) -> bool {
        object < self.first_of_round
    }

    /// The object is used in this round for the first time. Returns its number in this round, and whether it begins the
    /// round with the value that T' has given it.
    #[cold]
    pub(crate) fn renumber(&mut self, object: Object) -> (Object, bool) {
        let info = self.objects[object as usize];
        let latest = self.writes.get(info.last_write as usize);
        let of_t_prime = latest.is_some_and(|latest| latest.event == info.seen);
        let new = self.new_object(info.kind);
        self.rounds.renamed.push((new, object));
        (new, of_t_prime)
    }
}

impl super::threads::Threads {
    /// All threads but the current one, and those that wait for it, are over; others begin.
    fn begin_round(&mut self) {
        for thread in self.all_mut() {
            if thread.is_over() {
                thread.line = Line::Init;
            }
        }
    }
}
