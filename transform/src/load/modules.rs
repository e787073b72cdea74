//! Finds the files of `mod name;`.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta, Token};

use super::calls::Known;
use super::{ExtraRoot, Package, ParsedFile, Part, Tests, parse_file};
use crate::cfg::Cfg;
use crate::error::Error;
use crate::source::shown;

/// The index of the file that a `mod name;` declares, by the declaring file and the declaration's offset.
pub(crate) type ModuleFiles = HashMap<(usize, usize), usize>;

/// The directories in which the children of a module are looked for.
#[derive(Clone)]
pub(super) struct Directory {
    /// The directory of the file itself; `#[path]` outside inline modules is relative to it.
    file: PathBuf,
    /// The directory of plain child modules.
    children: PathBuf,
    inline: bool,
}

/// What has been read so far.
pub(super) struct Parts {
    pub(super) files: Vec<ParsedFile>,
    pub(super) modules: ModuleFiles,
    pub(super) roots: Vec<ExtraRoot>,
    pub(super) paths: HashMap<(usize, usize), String>,
    pub(super) parts: ModuleFiles,
}

pub(super) struct Reader<'a> {
    pub(super) package: &'a Package,
    pub(super) cfg: &'a Cfg,
    pub(super) files: Vec<ParsedFile>,
    modules: ModuleFiles,
    /// The paths of the files that are being read, to detect a file that contains itself.
    pub(super) open: HashSet<PathBuf>,
    roots: Vec<ExtraRoot>,
    pub(super) paths: HashMap<(usize, usize), String>,
    /// The files that macro calls stand for, see [`super::Crate::parts`].
    pub(super) parts: ModuleFiles,
    /// The crate's macros, in the order of their definitions.
    pub(super) macros: Vec<Known>,
    /// The directory of the root that is being read.
    source: PathBuf,
    /// The directory of its files in the generated crate.
    base: PathBuf,
    /// Whether the tests of the root that is being read are compiled.
    pub(super) tests: Tests,
}

impl<'a> Reader<'a> {
    pub(super) fn new(package: &'a Package, cfg: &'a Cfg) -> Self {
        Reader {
            package,
            cfg,
            files: Vec::new(),
            modules: ModuleFiles::new(),
            open: HashSet::new(),
            roots: Vec::new(),
            paths: HashMap::new(),
            parts: ModuleFiles::new(),
            macros: Vec::new(),
            source: PathBuf::new(),
            base: PathBuf::from("src"),
            tests: Tests::Compiled,
        }
    }

    pub(super) fn finish(self) -> Parts {
        Parts {
            files: self.files,
            modules: self.modules,
            roots: self.roots,
            paths: self.paths,
            parts: self.parts,
        }
    }

    /// Reads the crate, and the other targets that are asked for.
    pub(super) fn read_all(&mut self, part: &Part) -> Result<(), Error> {
        if self.package.is_dependency {
            return self.read_library();
        }
        self.tests = match part {
            Part::Target(_) => Tests::LeftOut,
            Part::Whole | Part::Library => Tests::Compiled,
        };
        self.read_root(&self.package.root.clone(), PathBuf::from("src/lib.rs"))?;
        self.tests = Tests::Compiled;
        let targets = self.package.targets.iter();
        for target in targets.filter(|target| part.has(target)) {
            self.base = PathBuf::from("src").join(&target.module);
            let start = self.files.len();
            self.read_root(&target.root, self.base.join("mod.rs"))?;
            let attrs = &self.files[start].tree.attrs;
            if self.cfg.off(attrs) {
                // The whole target is left out, as by a feature that is off.
                self.files.truncate(start);
                self.modules.retain(|(file, _), _| *file < start);
                self.parts.retain(|(file, _), _| *file < start);
                continue;
            }
            self.roots.push(ExtraRoot {
                module: target.module.clone(),
                files: start..self.files.len(),
            });
        }
        Ok(())
    }

    /// Reads a library that the program depends on. Its files keep their places in the package.
    fn read_library(&mut self) -> Result<(), Error> {
        let root = normal(&self.package.root);
        let dir = self.package.manifest.as_deref().and_then(Path::parent);
        self.source = normal(dir.unwrap_or(Path::new("")));
        self.base = PathBuf::new();
        self.tests = Tests::LeftOut;
        let beside = parent(&root);
        let directory = Directory {
            file: beside.clone(),
            children: beside,
            inline: false,
        };
        let generated = self.generated(&root);
        self.read(&root, generated, directory).map(drop)
    }

    fn read_root(&mut self, root: &Path, generated: PathBuf) -> Result<(), Error> {
        let dir = normal(&parent(root));
        self.source = dir.clone();
        let directory = Directory {
            file: dir.clone(),
            children: dir,
            inline: false,
        };
        self.read(root, generated, directory).map(drop)
    }

    fn read(&mut self, path: &Path, generated: PathBuf, dir: Directory) -> Result<usize, Error> {
        let number = self.files.len();
        self.files
            .push(parse_file(path, generated, self.tests, &self.package.name)?);
        self.open.insert(path.to_path_buf());
        let result = self.items_of(number, &dir);
        self.open.remove(path);
        result.map(|()| number)
    }

    /// Reads the files that belong to the items of a file.
    pub(super) fn items_of(&mut self, number: usize, dir: &Directory) -> Result<(), Error> {
        let mut items = std::mem::take(&mut self.files[number].tree.items);
        let result = self.children(number, &mut items, dir);
        self.files[number].tree.items = items;
        result
    }

    fn children(
        &mut self,
        number: usize,
        items: &mut Vec<Item>,
        dir: &Directory,
    ) -> Result<(), Error> {
        let mut at = 0;
        while at < items.len() {
            if let Item::Macro(item) = &mut items[at] {
                if !self.cfg.off(&item.attrs) {
                    self.define(item);
                    if item.ident.is_none() {
                        let mut found = self.call(number, item, dir)?;
                        self.children(number, &mut found, dir)?;
                        // These come before the call, so that the last item of the text comes last here.
                        let count = found.len();
                        items.splice(at..at, found);
                        at += count;
                    }
                }
                at += 1;
                continue;
            }
            at += 1;
            let Item::Mod(item) = &mut items[at - 1] else {
                continue;
            };
            if self.cfg.off(&item.attrs) {
                continue;
            }
            match &mut item.content {
                Some((_, items)) => {
                    let children = match path_attribute(&item.attrs, self.cfg) {
                        Some((path, _)) => normal(&base(dir).join(path)),
                        None => dir.children.join(module_name(&item.ident)),
                    };
                    self.children(
                        number,
                        items,
                        &Directory {
                            file: dir.file.clone(),
                            children,
                            inline: true,
                        },
                    )?;
                }
                None => self.child(number, item, dir)?,
            }
        }
        Ok(())
    }

    fn child(&mut self, number: usize, item: &ItemMod, dir: &Directory) -> Result<(), Error> {
        let name = module_name(&item.ident);
        let given = path_attribute(&item.attrs, self.cfg);
        let (tried, fixed) = match &given {
            Some((path, _)) => (vec![normal(&base(dir).join(path))], true),
            None => {
                let flat = dir.children.join(format!("{name}.rs"));
                (vec![flat, dir.children.join(&name).join("mod.rs")], false)
            }
        };
        let Some(path) = tried.iter().find(|path| path.is_file()).cloned() else {
            // rustc reads the file only if the `cfg` holds, which rustc decides.
            if self.cfg.active(&item.attrs) != Some(true) || conditional_path(&item.attrs, self.cfg)
            {
                return Ok(());
            }
            return Err(Error::MissingModule {
                place: Box::new(
                    self.files[number]
                        .source
                        .place(item.ident.span().byte_range()),
                ),
                name,
                tried: tried.iter().map(|path| shown(path)).collect(),
            });
        };
        let place = self.files[number]
            .source
            .place(item.ident.span().byte_range());
        if self.open.contains(&path) {
            let message = format!("module `{name}` contains itself");
            return Err(Error::Syntax {
                place: Box::new(place),
                message,
            });
        }
        let generated = self.generated(&path);
        if !self.package.is_dependency
            && generated.components().count() == 2
            && TAKEN.iter().any(|name| generated.ends_with(name))
        {
            return Err(Error::unsupported(
                place,
                format!("module `{name}`"),
                "the generated crate has a file of that name",
                "give the module another name",
            ));
        }
        if let Some((written, literal)) = given {
            let from = self.generated(base(dir));
            if normal(&from.join(written)) != generated {
                self.paths
                    .insert((number, literal), relative(&from, &generated));
            }
        }
        let is_mod_rs = fixed || path.file_name().is_some_and(|file| file == "mod.rs");
        let own = parent(&path);
        let children = if is_mod_rs {
            own.clone()
        } else {
            own.join(&name)
        };
        let at = item.span().byte_range().start;
        let child = self.read(
            &path,
            generated,
            Directory {
                file: own,
                children,
                inline: false,
            },
        )?;
        self.modules.insert((number, at), child);
        Ok(())
    }

    /// Returns the path of a file in the generated crate: the same as the user's, below its root's directory; files
    /// from outside of that directory keep their places relative to each other.
    pub(super) fn generated(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.source) {
            Ok(below) => self.base.join(below),
            Err(_) => {
                let parts = path
                    .components()
                    .filter(|part| matches!(part, Component::Normal(_)));
                self.base.join("outside").join(parts.collect::<PathBuf>())
            }
        }
    }
}

/// The generated crate's own files.
const TAKEN: &[&str] = &["src/lib.rs", "src/main.rs", "src/p_hat.rs"];

/// Returns the path without `.` and, as far as the text of the path allows, without `..`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Returns the relative path from a directory to a file, in the notation of `#[path]`.
pub(super) fn relative(from: &Path, to: &Path) -> String {
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(common).map(|_| "..".to_string());
    let down = to
        .components()
        .skip(common)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

fn base(dir: &Directory) -> &Path {
    if dir.inline { &dir.children } else { &dir.file }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn module_name(ident: &syn::Ident) -> String {
    syn::ext::IdentExt::unraw(ident).to_string()
}

/// Returns the value of `#[path = "…"]` and its offset, also where a `cfg_attr` that holds has the attribute.
fn path_attribute(attrs: &[Attribute], cfg: &Cfg) -> Option<(String, usize)> {
    attrs.iter().find_map(|attr| {
        if let Some((predicate, inside)) = conditional(attr) {
            let holds = cfg.holds(&predicate) == Some(true);
            return inside.iter().filter(|_| holds).find_map(path);
        }
        path(&attr.meta)
    })
}

/// Returns the value of `path = "…"` and its offset.
fn path(meta: &Meta) -> Option<(String, usize)> {
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(value),
                ..
            }) => Some((value.value(), value.span().byte_range().start)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether only rustc knows the path.
fn conditional_path(attrs: &[Attribute], cfg: &Cfg) -> bool {
    attrs
        .iter()
        .filter_map(conditional)
        .any(|(predicate, _)| cfg.holds(&predicate).is_none())
}

/// Returns the predicate of a `cfg_attr`, and the attributes that depend on it.
fn conditional(attr: &Attribute) -> Option<(Meta, Vec<Meta>)> {
    if !attr.path().is_ident("cfg_attr") {
        return None;
    }
    let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut all = attr.parse_args_with(parse).ok()?.into_iter();
    Some((all.next()?, all.collect()))
}
