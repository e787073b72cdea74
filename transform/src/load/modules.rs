//! Finding the files of `mod name;`.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Item, ItemMod, Lit, Meta};

use super::{ExtraRoot, Package, ParsedFile, parse_file};
use crate::cfg::Cfg;
use crate::error::Error;
use crate::source::shown;

/// Which file holds the module that a `mod name;` declares: by the declaring file and the declaration's offset.
pub(crate) type ModuleFiles = HashMap<(usize, usize), usize>;

/// Where the children of a module are looked for.
#[derive(Clone)]
struct Directory {
    /// Of the file itself; `#[path]` outside inline modules is relative to it.
    file: PathBuf,
    /// Of plain child modules.
    children: PathBuf,
    inline: bool,
}

pub(super) struct Reader<'a> {
    package: &'a Package,
    cfg: &'a Cfg,
    files: Vec<ParsedFile>,
    modules: ModuleFiles,
    /// The files being read, to notice one that contains itself.
    open: HashSet<PathBuf>,
    roots: Vec<ExtraRoot>,
    /// The directory of the root being read.
    source: PathBuf,
    /// Where its files go.
    base: PathBuf,
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
            source: PathBuf::new(),
            base: PathBuf::from("src"),
        }
    }

    pub(super) fn finish(self) -> (Vec<ParsedFile>, ModuleFiles, Vec<ExtraRoot>) {
        (self.files, self.modules, self.roots)
    }

    pub(super) fn read_all(&mut self) -> Result<(), Error> {
        self.read_root(&self.package.root.clone(), PathBuf::from("src/lib.rs"))?;
        for target in &self.package.targets {
            self.base = PathBuf::from("src").join(&target.module);
            let start = self.files.len();
            self.read_root(&target.root, self.base.join("mod.rs"))?;
            let attrs = &self.files[start].tree.attrs;
            if self.cfg.off(attrs) {
                // The whole of it is left out, as by a feature that is off.
                self.files.truncate(start);
                self.modules.retain(|(file, _), _| *file < start);
                continue;
            }
            self.roots.push(ExtraRoot {
                module: target.module.clone(),
                files: start..self.files.len(),
            });
        }
        Ok(())
    }

    fn read_root(&mut self, root: &Path, generated: PathBuf) -> Result<(), Error> {
        let dir = parent(root);
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
        self.files.push(parse_file(path, generated)?);
        self.open.insert(path.to_path_buf());
        let items = std::mem::take(&mut self.files[number].tree.items);
        let result = self.children(number, &items, &dir);
        self.files[number].tree.items = items;
        self.open.remove(path);
        result.map(|()| number)
    }

    fn children(&mut self, number: usize, items: &[Item], dir: &Directory) -> Result<(), Error> {
        for item in items {
            let Item::Mod(item) = item else { continue };
            if self.cfg.off(&item.attrs) {
                continue;
            }
            match &item.content {
                Some((_, items)) => {
                    let name = module_name(item);
                    let children = match path_attribute(&item.attrs) {
                        Some(path) => base(dir).join(path),
                        None => dir.children.join(name),
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
        let name = module_name(item);
        let (tried, fixed) = match path_attribute(&item.attrs) {
            Some(path) => (vec![base(dir).join(path)], true),
            None => {
                let flat = dir.children.join(format!("{name}.rs"));
                (vec![flat, dir.children.join(&name).join("mod.rs")], false)
            }
        };
        let Some(path) = tried.iter().find(|path| path.is_file()).cloned() else {
            // rustc reads it only if the cfg holds, and that is rustc's to say.
            if self.cfg.active(&item.attrs) != Some(true) || conditional_path(&item.attrs) {
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
        let Some(generated) = self.generated(&path) else {
            return Err(Error::unsupported(
                place,
                format!("module `{name}`"),
                format!(
                    "its file {} lies outside the crate's source directory",
                    shown(&path).display()
                ),
                "move the file below the crate's source directory",
            ));
        };
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

    /// The path of a module file in the generated crate: as in the user's, below its root's directory.
    fn generated(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.source).ok()?;
        let plain = below
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        // The generated crate's own files.
        let taken = ["lib.rs", "main.rs", "p_hat.rs", "p_hat"]
            .iter()
            .any(|name| below.starts_with(name));
        let taken = taken && self.base == Path::new("src");
        (plain && !taken).then(|| self.base.join(below))
    }
}

fn base(dir: &Directory) -> &Path {
    if dir.inline { &dir.children } else { &dir.file }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

fn module_name(item: &ItemMod) -> String {
    syn::ext::IdentExt::unraw(&item.ident).to_string()
}

/// The value of `#[path = "…"]`.
pub(crate) fn path_attribute(attrs: &[Attribute]) -> Option<String> {
    attrs.iter().find_map(|attr| match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(value),
                ..
            }) => Some(value.value()),
            _ => None,
        },
        _ => None,
    })
}

fn conditional_path(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("cfg_attr"))
}
