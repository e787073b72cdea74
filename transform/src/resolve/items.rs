//! The data that the tables keep of each item.

use std::rc::Rc;

use super::ModId;

/// Index of an item.
pub(crate) type ItemId = usize;

/// The way in which a method takes `self`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// `self`.
    Value,
    /// `&self`.
    Shared,
    /// `&mut self`.
    Mutable,
    /// The method takes no `self`, or `self` with a type that has to be read.
    Other,
}

/// A free function without its body.
pub(crate) struct Function {
    pub(crate) attrs: Vec<syn::Attribute>,
    pub(crate) vis: syn::Visibility,
    pub(crate) sig: syn::Signature,
}

/// The kind of an item.
#[derive(Clone)]
pub(crate) enum ItemKind {
    /// A free function.
    Fn(Rc<Function>),
    /// A method or associated function: its type, if the type is of this crate, and how the method takes `self`.
    Method(Option<ItemId>, Receiver),
    /// A `static mut` of the given type.
    StaticMut(Rc<syn::Type>),
    /// A constant of the given type.
    Const(Rc<syn::ItemConst>),
    /// Another static.
    Value,
    /// A struct.
    Struct(Rc<syn::ItemStruct>),
    /// An enum.
    Enum(Rc<syn::ItemEnum>),
    /// A type alias.
    Alias(Rc<syn::ItemType>),
    /// A trait.
    Trait(Rc<syn::ItemTrait>),
    /// A `macro_rules!` macro.
    Macro,
    /// A union, or an item that stands for itself.
    Other,
}

/// An item of the crate.
#[derive(Clone)]
pub(crate) struct ItemData {
    pub(crate) kind: ItemKind,
    pub(crate) name: String,
    pub(crate) module: ModId,
    pub(crate) file: usize,
    /// The offset of the item's name.
    pub(crate) at: usize,
    /// Whether the item is declared inside a function.
    pub(crate) in_block: bool,
}
