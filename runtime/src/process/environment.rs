//! Environment variables, the current directory, and the C library's state that can be set back.
//!
//! Each is looked after where the executable imports a function that can change it: std's `set_var` comes to `setenv`, its
//! `set_current_dir` to `chdir`.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_ushort, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;

use super::library;

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

// The runtime must not import these functions itself: what is imported is what the program may call.
type Fchdir = unsafe extern "C" fn(c_int) -> c_int;
type Umask = unsafe extern "C" fn(c_uint) -> c_uint;
type Setlocale = unsafe extern "C" fn(c_int, *const c_char) -> *mut c_char;
type Srandom = unsafe extern "C" fn(c_uint);
type Seed48 = unsafe extern "C" fn(*mut c_ushort) -> *mut c_ushort;
type Strtok = unsafe extern "C" fn(*mut c_char, *const c_char) -> *mut c_char;
type Tzset = unsafe extern "C" fn();

/// The C library's function of this name.
///
/// # Safety
/// The function has the type `F`.
unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    assert!(size_of::<F>() == size_of::<*mut c_void>(), "not a function");
    let found = library::function(name);
    // SAFETY: the caller's promise; the sizes are the same.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
}

/// The functions that the C library has.
struct Functions {
    fchdir: Option<Fchdir>,
    umask: Option<Umask>,
    setlocale: Option<Setlocale>,
    srandom: Option<Srandom>,
    seed48: Option<Seed48>,
    strtok: Option<Strtok>,
    tzset: Option<Tzset>,
}

impl Functions {
    /// # Safety
    /// Each function has the type that its field says.
    unsafe fn find() -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                fchdir: function(c"fchdir"),
                umask: function(c"umask"),
                setlocale: function(c"setlocale"),
                srandom: function(c"srandom"),
                seed48: function(c"seed48"),
                strtok: function(c"strtok"),
                tzset: function(c"tzset"),
            }
        }
    }
}

/// All categories of a locale.
const LC_ALL: c_int = 6;

const VARIABLES: [&str; 4] = ["setenv", "unsetenv", "putenv", "clearenv"];
const DIRECTORY: [&str; 2] = ["chdir", "fchdir"];
const RANDOM: [&str; 4] = ["rand", "srand", "random", "srandom"];
const RANDOM48: [&str; 7] = [
    "drand48", "lrand48", "mrand48", "srand48", "seed48", "lcong48", "erand48",
];
const TIME_ZONE: [&str; 3] = ["tzset", "localtime", "mktime"];

/// Whether imports of this name are set back here.
pub(super) fn is_set_back(import: &str) -> bool {
    let lists: [&[&str]; 5] = [&VARIABLES, &DIRECTORY, &RANDOM, &RANDOM48, &TIME_ZONE];
    lists.iter().any(|list| list.contains(&import))
        || matches!(import, "umask" | "setlocale" | "strtok" | "localtime_r")
}

/// A part of the C library's state that is set back after an execution.
enum Step {
    /// The current directory.
    Directory(Fchdir, File),
    Mask(Umask, c_uint),
    Locale(Setlocale, CString),
    Random(Srandom),
    Random48(Seed48),
    Token(Strtok),
    TimeZone(Tzset),
}

/// A list of pointers to variables.
struct Place(*mut *mut c_char);

impl Default for Place {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

impl Place {
    /// Whether the environment still is this list, and holds these pointers as it did.
    #[inline]
    fn holds(&self, pristine: &[*mut c_char]) -> bool {
        // SAFETY: the list is as long as it was when it held these: the C library makes another one where it needs a longer one.
        unsafe {
            environ == self.0
                && !self.0.is_null()
                && std::slice::from_raw_parts(self.0, pristine.len()) == pristine
        }
    }
}

/// The state before the first execution, of all that the program can change.
#[derive(Default)]
pub(super) struct Environment {
    /// The pointers to the variables, with the null pointer behind them, and those that the C library is given.
    variables: Option<(Vec<*mut c_char>, Vec<*mut c_char>)>,
    /// The list of the pointers in which the C library looks.
    list: Place,
    steps: Vec<Step>,
}

impl Environment {
    /// The state now, as far as an executable with these imports can change it.
    pub(super) fn of(imports: &[String]) -> Self {
        let any_of = |names: &[&str]| imports.iter().any(|name| names.contains(&name.as_str()));
        let mut environment = Self::default();
        if any_of(&VARIABLES) {
            let all = variables();
            environment.variables = Some((all.clone(), all));
            // SAFETY: a pointer is read.
            environment.list = Place(unsafe { environ });
        }
        let mut add = |names: &[&str], step: &dyn Fn() -> Option<Step>| {
            if any_of(names) {
                environment.steps.extend(step());
            }
        };
        // SAFETY: these are C's functions, with the types that C gives them.
        let system = unsafe { Functions::find() };
        add(&DIRECTORY, &|| {
            Some(Step::Directory(system.fchdir?, File::open(".").ok()?))
        });
        add(&["umask"], &|| {
            let umask = system.umask?;
            // SAFETY: takes a number, and the mask is set to what it was.
            let mask = unsafe { umask(0) };
            // SAFETY: takes a number, and sets the mask to what it was.
            unsafe { umask(mask) };
            Some(Step::Mask(umask, mask))
        });
        add(&["setlocale"], &|| {
            let setlocale = system.setlocale?;
            // SAFETY: a null pointer asks for the name.
            let name = unsafe { setlocale(LC_ALL, std::ptr::null()) };
            // SAFETY: a text that ends as C's do, which is copied before anything changes it.
            let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
            Some(Step::Locale(setlocale, name.to_owned()))
        });
        add(&RANDOM, &|| system.srandom.map(Step::Random));
        add(&RANDOM48, &|| system.seed48.map(Step::Random48));
        add(&["strtok"], &|| system.strtok.map(Step::Token));
        add(&TIME_ZONE, &|| system.tzset.map(Step::TimeZone));
        environment
    }

    /// Sets the whole state back.
    #[inline]
    pub(super) fn restore(&mut self) {
        let may_have_changed = match &self.variables {
            Some((pristine, _)) => !self.list.holds(pristine),
            None => false,
        };
        if may_have_changed || !self.steps.is_empty() {
            self.set_back();
        }
    }

    #[cold]
    fn set_back(&mut self) {
        if let Some((pristine, given)) = &mut self.variables
            && !are_variables(pristine)
        {
            given.clone_from(pristine);
            // SAFETY: no other thread uses the environment, and the C library takes any list that ends with a null pointer;
            // the strings are those that the process was started with.
            unsafe { environ = given.as_mut_ptr() };
            self.list = Place(given.as_mut_ptr());
        }
        for step in &self.steps {
            step.run();
        }
    }
}

impl Step {
    fn run(&self) {
        match self {
            Self::Directory(fchdir, directory) => {
                // SAFETY: takes a number.
                let result = unsafe { fchdir(directory.as_raw_fd()) };
                assert!(result == 0, "the current directory can't be set back");
            }
            Self::Mask(umask, mask) => {
                // SAFETY: takes a number.
                unsafe { umask(*mask) };
            }
            Self::Locale(setlocale, name) => {
                // SAFETY: takes a text that ends as C's do.
                unsafe { setlocale(LC_ALL, name.as_ptr()) };
            }
            // SAFETY: takes a number; C begins with 1.
            Self::Random(srandom) => unsafe { srandom(1) },
            Self::Random48(seed48) => {
                // SAFETY: reads three numbers, and what it returns is not used.
                unsafe { seed48([0; 3].as_mut_ptr()) };
            }
            Self::Token(strtok) => {
                // SAFETY: remembers the end of an empty text, and writes nothing.
                unsafe { strtok(EMPTY.0.as_ptr().cast_mut(), c" ".as_ptr()) };
            }
            // SAFETY: reads the environment, which no other thread uses.
            Self::TimeZone(tzset) => unsafe { tzset() },
        }
    }
}

/// The text that `strtok` is left with: it never writes where there is nothing.
struct Empty([c_char; 1]);
static EMPTY: Empty = Empty([0]);

/// Whether these are the pointers to all variables.
fn are_variables(pristine: &[*mut c_char]) -> bool {
    // SAFETY: the list ends with a null pointer, as `pristine` does, and is read no further.
    unsafe { !environ.is_null() && (0..pristine.len()).all(|at| *environ.add(at) == pristine[at]) }
}

/// The pointers to all variables, and the null pointer.
fn variables() -> Vec<*mut c_char> {
    let mut all = Vec::new();
    // SAFETY: the list ends with a null pointer, and no other thread changes it.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            all.push(*next);
            next = next.add(1);
        }
    }
    all.push(std::ptr::null_mut());
    all
}
