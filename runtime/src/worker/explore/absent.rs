//! Requests for scheduled mode where the worker is built without the scheduler: they are refused.

use std::io;

use super::connection::Connection;
use super::message::{Conversation, ExploreRequest, ReplayRequest};
use crate::bound::Bound;
use crate::harness::AnyHarness;

/// Refuses to explore.
pub(super) fn explore(
    connection: Connection<ExploreRequest>,
    _harness: &dyn AnyHarness,
    _request: &ExploreRequest,
) -> io::Result<()> {
    refuse(connection)
}

/// Refuses to follow a schedule.
pub(super) fn replay(
    connection: Connection<ReplayRequest>,
    _harness: &dyn AnyHarness,
    _request: &ReplayRequest,
) -> io::Result<()> {
    refuse(connection)
}

fn refuse<C: Conversation>(mut connection: Connection<C>) -> io::Result<()> {
    connection.refuse("this worker was built without the scheduler")
}

/// No schedule is repeated to see what random numbers decide.
pub(super) const fn look_for_random_numbers(_bound: &Bound, _careful: bool) {}
