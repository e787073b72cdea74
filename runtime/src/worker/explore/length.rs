//! The bound on the events of an execution, where the request has none.
//!
//! An execution has to be cut somewhere, as a program may go on for ever, and the search with it. But one that comes to its
//! end is not to be cut, however long that takes. So the program is run once before the search begins, with turns for all
//! threads, to see whether it comes to its end by itself, and when. Other executions may take longer than this one, by what
//! threads do when they see something else: the bound is some times as much.
//!
//! All of that is a function of the program and its inputs, so that all parts of a search, and one that goes on from a
//! checkpoint, have the same bound.

use std::io;

use seqz_explore::{Executor, Fair, Outcome};

use super::super::connection::Connection;
use super::super::message::ExploreRequest;
use super::super::search::texts;
use super::careful::Careful;
use crate::bound::Bound;
use crate::scheduled::{Idle, Settings};

/// The greatest bound on the events of an execution.
const MOST: u32 = 1_000_000;

/// The bounds for the inputs of a search, one after another.
pub(super) struct Lengths<'r> {
    request: &'r ExploreRequest,
    /// Whether the program came to no end with some inputs. It is not tried again with the others then.
    is_endless: bool,
}

impl<'r> Lengths<'r> {
    pub(super) const fn new(request: &'r ExploreRequest) -> Self {
        Self {
            request,
            is_endless: false,
        }
    }

    /// The bound for the choice of inputs of this number.
    pub(super) fn bound(
        &mut self,
        number: usize,
        bound: &Bound,
        connection: &Connection<ExploreRequest>,
    ) -> io::Result<u32> {
        if let Some(steps) = self.request.max_steps {
            return Ok(steps);
        }
        let needed = if self.is_endless {
            None
        } else {
            self.needed(number, bound, connection)?
        };
        self.is_endless |= needed.is_none();
        Ok(Settings::room_for(needed.unwrap_or(0)).min(MOST))
    }

    /// The number of events that the program makes with these inputs; `None` if it came to no end.
    fn needed(
        &self,
        number: usize,
        bound: &Bound,
        connection: &Connection<ExploreRequest>,
    ) -> io::Result<Option<usize>> {
        let request = self.request;
        let settings = Settings {
            steps: MOST,
            stack: usize::try_from(request.stack).unwrap_or(usize::MAX),
            idle: Idle::Waits,
            trace: false,
            unfollowed: request.unfollowed,
            ..Settings::default()
        };
        let mut machine = Careful::new(&*bound.program, settings);
        let mut fair = Fair::default();
        // A worker has died before it told of any execution with these inputs: it may be this one.
        let is_careful = request
            .careful
            .is_some_and(|(inputs, executions)| (inputs as usize, executions) <= (number, 0));
        if is_careful {
            machine.tell(connection, (1, 0), texts(bound))?;
        }
        let end = machine.run(&mut fair);
        Ok((end.outcome != Outcome::Truncated).then(|| fair.events()))
    }
}
