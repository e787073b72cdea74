//! Decodes byte strings: the worker runs them and says what each one stands for.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use seqz_runtime::vocabulary::{Place, ThreadInfo};
use seqz_runtime::{ReadId, WriteId};

use super::rounds::Fuzzer;
use super::target::Fatal;
use crate::check::search::shell_word;
use crate::error::Error;
use crate::model::document::{Bug, Kind, NonLocalRead, Role};
use crate::model::schedule::Confirmation;
use crate::original::inputs;
use crate::worker::message::{
    self, ByteChoice, DecodeReply, DecodeRequest, Executing, Finding, Reply, SeedRequest,
    SimplifyReply, SimplifyRequest, Stopped,
};
use crate::worker::{Death, Heard, Process, Session, Watch, bury, failed};

/// The number of executions that are spent to find a bug with fewer non-local reads.
const SMALLER: u64 = 20_000;
/// The number of executions that are spent to find simpler inputs.
const SIMPLER: u64 = 20_000;
const SIMPLER_TIME: Duration = Duration::from_secs(5);
/// The time between two looks at the worker's memory.
const TICK: Duration = Duration::from_millis(50);

/// The meaning of a byte string.
#[derive(Default)]
pub(super) struct Decoded {
    /// The findings of its execution.
    pub(super) findings: Vec<Finding>,
    /// The threads, in order of creation.
    pub(super) threads: Vec<ThreadInfo>,
    /// The non-local reads and the writes that they see, as far as the execution came.
    pub(super) pairs: Vec<(ReadId, WriteId)>,
    /// The inputs: pairs of a parameter's name and its value.
    pub(super) inputs: Vec<(String, String)>,
    /// The reason and the place, where the program does what P̂ₖ cannot express.
    pub(super) unsupported: Option<(String, Option<Place>)>,
    /// How the execution took the worker with it; `None` where it did not.
    pub(super) end: Option<End>,
}

/// How an execution took the worker with it.
pub(super) enum End {
    Died(Death),
    Hung,
    /// The worker took too much memory.
    Memory,
}

/// The error of a reply after which nothing can be said of the bytes.
fn refused<R: Debug>(reply: Reply<R>) -> Error {
    match reply {
        Reply::Stopped(Stopped::Refused(why)) => Error::refused(&why),
        other => Error::Worker(format!("the worker says something else: {other:?}")),
    }
}

impl Fuzzer<'_> {
    /// The choice that a byte string stands for, about which the worker is asked.
    fn choice(
        &self,
        harness: &str,
        (role, k): (Role, u32),
        bytes: &[u8],
        executions: u64,
    ) -> ByteChoice {
        ByteChoice {
            ignore_detached_panics: self.options.ignore_detached_panics,
            harness: harness.to_owned(),
            role: role.into(),
            k,
            bytes: bytes.to_vec(),
            executions,
        }
    }

    /// Has the worker run a byte string.
    pub(super) fn decode(
        &self,
        harness: &str,
        role: Role,
        k: u32,
        bytes: &[u8],
    ) -> Result<Decoded, Error> {
        let process = self.worker()?;
        let mut decoded = Decoded::default();
        let request = DecodeRequest {
            choice: self.choice(harness, (role, k), bytes, SMALLER),
        };
        let mut session = match Session::begin(process, request) {
            Ok(session) => session,
            Err(process) => {
                decoded.end = Some(End::Died(bury(*process)?));
                return Ok(decoded);
            }
        };
        loop {
            // The watch ends after each tick, so that the memory is looked at.
            match session.listen(&self.watch(Some(TICK)))? {
                Heard::Closed => {
                    decoded.end = Some(End::Died(bury(session.into_process())?));
                    return Ok(decoded);
                }
                Heard::Cut(crate::model::document::Cut::Interrupted) => return Ok(decoded),
                Heard::Cut(_) => {
                    if session.process().resident() > u64::from(self.options.memory) << 20 {
                        decoded.end = Some(End::Memory);
                        return Ok(decoded);
                    }
                    if session.silence() <= self.options.hang_after {
                        continue;
                    }
                    decoded.end = Some(End::Hung);
                    return Ok(decoded);
                }
                Heard::Hung => {
                    decoded.end = Some(End::Hung);
                    return Ok(decoded);
                }
                Heard::Reply(reply) => match reply {
                    Reply::Own(DecodeReply::Executing(Executing { pairs, inputs, .. })) => {
                        (decoded.pairs, decoded.inputs) = (pairs, inputs);
                    }
                    Reply::Own(DecodeReply::Threads(threads)) => decoded.threads = threads,
                    Reply::Own(DecodeReply::Finding(finding)) => decoded.findings.push(*finding),
                    Reply::Own(DecodeReply::Done) => return Ok(decoded),
                    Reply::Stopped(Stopped::Unsupported { message, place }) => {
                        decoded.unsupported = Some((message, place));
                        return Ok(decoded);
                    }
                    other => return Err(refused(other)),
                },
            }
        }
    }

    /// Returns bytes with simpler inputs that meet the same bug, as far as the worker gets in the search for them.
    pub(super) fn simpler(
        &self,
        harness: &str,
        (role, k): (Role, u32),
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let process = self.worker()?;
        let request = SimplifyRequest {
            choice: self.choice(harness, (role, k), bytes, SIMPLER),
        };
        let Ok(mut session) = Session::begin(process, request) else {
            return Ok(None);
        };
        let watch = self.watch(Some(SIMPLER_TIME));
        let mut simplest = None;
        // Where the worker dies or hangs, or the time is over, what was found before is good.
        while let Heard::Reply(reply) = session.listen(&watch)? {
            match reply {
                Reply::Own(SimplifyReply::Simpler(bytes)) => simplest = Some(bytes),
                Reply::Own(SimplifyReply::Done) => break,
                other => return Err(refused(other)),
            }
        }
        Ok(simplest)
    }

    /// Returns byte strings to begin with, and the number of bytes that matter. `None`: the worker died or hung in
    /// these executions, or the user broke the command off.
    pub(super) fn seeds(&self, harness: &str, role: Role, k: u32) -> Result<Option<Seeds>, Error> {
        let process = self.worker()?;
        let request = SeedRequest {
            harness: harness.to_owned(),
            role: role.into(),
            k,
            limit: 256,
            seed: self.options.seed,
        };
        let Ok(mut session) = Session::begin(process, request) else {
            return Ok(None);
        };
        let Heard::Reply(reply) = session.listen(&self.watch(None))? else {
            return Ok(None);
        };
        match reply {
            Reply::Own(message::Seeds { strings, longest }) => {
                Ok(Some(Seeds::Strings(strings, longest)))
            }
            Reply::Stopped(Stopped::Unsupported { message, place }) => {
                Ok(Some(Seeds::Unsupported(message, place)))
            }
            other => Err(refused(other)),
        }
    }

    /// Returns a watch over the worker that ends after `time` from now.
    fn watch(&self, time: Option<Duration>) -> Watch<'_> {
        Watch {
            stop: self.stop,
            deadline: time.and_then(|time| Instant::now().checked_add(time)),
            hang_after: self.options.hang_after,
        }
    }

    fn worker(&self) -> Result<Process, Error> {
        Process::start(self.worker, self.dir).map_err(|e| failed("cannot start the worker", &e))
    }

    /// Returns the bug of an execution that ended its process.
    pub(super) fn fatal(
        &self,
        harness: &str,
        (role, k): (Role, u32),
        what: Fatal,
        decoded: &Decoded,
        artifact: &Path,
    ) -> Bug {
        let hang = format!(
            "one execution went on for more than {:.1} s",
            self.options.hang_after.as_secs_f64()
        );
        let memory = format!(
            "one execution took more than {} MB of memory",
            self.options.memory
        );
        let (kind, message) = match (&decoded.end, what) {
            (_, Fatal::Memory) | (Some(End::Memory), _) => (Kind::Crash, memory),
            (Some(End::Died(death)), _) if death.exited() => (Kind::Exit, death.describe()),
            (Some(End::Died(death)), _) => (Kind::Crash, death.describe()),
            (Some(End::Hung), _) | (None, Fatal::Hang) => (Kind::Hang, hang),
            (None, Fatal::Crash) => (
                Kind::Crash,
                "the process of the fuzz target was ended; by itself the execution comes to its end"
                    .to_owned(),
            ),
        };
        let read = |&(read, write): &(ReadId, WriteId)| NonLocalRead {
            read: read.0,
            write: write.0,
            variable: None,
            value: None,
            read_step: None,
            write_step: None,
            read_site: None,
            write_site: None,
        };
        Bug {
            kind,
            message,
            site: None,
            other_site: None,
            other_pending: false,
            other_thread: None,
            k: decoded.pairs.len() as u32,
            under_test: role,
            inputs: inputs(&decoded.inputs),
            non_local_reads: decoded.pairs.iter().map(read).collect(),
            trace: Vec::new(),
            confirmation: Confirmation::NotTried,
            run_alone: Some(self.run_alone(harness, role, k, artifact)),
            count: 1,
            also_found: Vec::new(),
            finding: None,
            met: crate::model::document::Met::default(),
        }
    }

    /// Returns the command that has the worker, which is a program by itself, run one execution.
    fn run_alone(&self, harness: &str, role: Role, k: u32, artifact: &Path) -> String {
        let words = [
            self.worker.display().to_string(),
            "--harness".into(),
            harness.into(),
            "--under-test".into(),
            role.name().into(),
            "--k".into(),
            k.to_string(),
            "--bytes".into(),
            artifact.display().to_string(),
        ];
        words.map(|word| shell_word(&word)).join(" ")
    }
}

/// What the worker gives to begin a corpus with.
pub(super) enum Seeds {
    /// Byte strings, and the number of bytes that matter.
    Strings(Vec<Vec<u8>>, u32),
    /// The program does what P̂ₖ cannot express; the reason and the place.
    Unsupported(String, Option<Place>),
}

/// Reads the bytes of a file that the target has failed on.
pub(super) fn read(artifact: &Path) -> Result<Vec<u8>, Error> {
    fs::read(artifact).map_err(|e| super::layout::file("read", artifact, e))
}
