//! What `#[derive(Module)]` calls for each field. Not for use by hand.

use super::{Module, ModuleMapper, ModuleVisitor};

/// Visits a field under its name.
#[inline]
pub fn visit<M: Module, V: ModuleVisitor>(name: &str, container: &str, field: &M, visitor: &mut V) {
    visitor.enter_module(name, container);
    field.visit(visitor);
    visitor.exit_module(name, container);
}

/// Maps a field under its name.
#[inline]
pub fn map<M: Module, P: ModuleMapper>(name: &str, container: &str, field: M, mapper: &mut P) -> M {
    mapper.enter_module(name, container);
    let field = field.map(mapper);
    mapper.exit_module(name, container);
    field
}
