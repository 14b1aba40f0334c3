//! Containers of modules: `Option`, `Box`, `Vec`, arrays and tuples.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{
    Content, DisplaySettings, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper,
    ModuleVisitor, field,
};

impl<T: Module> Module for Option<T> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        if let Some(module) = self {
            module.visit(visitor);
        }
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        self.map(|module| module.map(mapper))
    }
}

impl<T: ModuleDisplay> ModuleDisplayDefault for Option<T> {
    fn content(&self, content: Content) -> Option<Content> {
        match self {
            Some(module) => content.add_single(module).optional(),
            None => content.add_formatted(&"None").optional(),
        }
    }
}

impl<T: ModuleDisplay> ModuleDisplay for Option<T> {}

impl<T: Module> Module for Box<T> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        (**self).visit(visitor);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        Box::new((*self).map(mapper))
    }
}

impl<T: ModuleDisplay> ModuleDisplayDefault for Box<T> {
    fn content(&self, content: Content) -> Option<Content> {
        (**self).content(content)
    }

    fn num_params(&self) -> usize {
        (**self).num_params()
    }
}

impl<T: ModuleDisplay> ModuleDisplay for Box<T> {
    fn format(&self, settings: DisplaySettings) -> String {
        (**self).format(settings)
    }
}

impl<T: Module> Module for Vec<T> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visit_all("Vec", self, visitor);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let modules = self.into_iter().enumerate();
        modules
            .map(|(index, module)| map_at("Vec", index, module, mapper))
            .collect()
    }
}

impl<T: ModuleDisplay> ModuleDisplayDefault for Vec<T> {
    fn content(&self, content: Content) -> Option<Content> {
        list(&format!("Vec<0..{}>", self.len()), self, content)
    }
}

impl<T: ModuleDisplay> ModuleDisplay for Vec<T> {}

impl<T: Module, const N: usize> Module for [T; N] {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visit_all("Array", self, visitor);
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let mut index = 0..N;
        self.map(|module| {
            let index = index.next().expect("an index for each of the `N` elements");
            map_at("Array", index, module, mapper)
        })
    }
}

impl<T: ModuleDisplay, const N: usize> ModuleDisplayDefault for [T; N] {
    fn content(&self, content: Content) -> Option<Content> {
        list(&format!("[0..{N}]"), self, content)
    }
}

impl<T: ModuleDisplay, const N: usize> ModuleDisplay for [T; N] {}

fn visit_all<T: Module, V: ModuleVisitor>(container: &str, modules: &[T], visitor: &mut V) {
    for (index, module) in modules.iter().enumerate() {
        field::visit(&index.to_string(), container, module, visitor);
    }
}

fn map_at<T: Module, M: ModuleMapper>(
    container: &str,
    index: usize,
    module: T,
    mapper: &mut M,
) -> T {
    field::map(&index.to_string(), container, module, mapper)
}

fn list<T: ModuleDisplay>(name: &str, modules: &[T], content: Content) -> Option<Content> {
    let content = content.set_top_level_type(name);
    let add =
        |content: Content, (index, module): (usize, &T)| content.add(&index.to_string(), module);
    modules.iter().enumerate().fold(content, add).optional()
}

macro_rules! tuple {
    ($($ty:ident $index:tt),+) => {
        impl<$($ty: Module),+> Module for ($($ty,)+) {
            fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
                $(field::visit(stringify!($index), "Tuple", &self.$index, visitor);)+
            }

            fn map<Mapper: ModuleMapper>(self, mapper: &mut Mapper) -> Self {
                ($(field::map(stringify!($index), "Tuple", self.$index, mapper),)+)
            }
        }

        impl<$($ty: ModuleDisplay),+> ModuleDisplayDefault for ($($ty,)+) {
            fn content(&self, content: Content) -> Option<Content> {
                let name = [$(stringify!($ty)),+].join(", ");
                content
                    .set_top_level_type(&format!("({name})"))
                    $(.add(stringify!($index), &self.$index))+
                    .optional()
            }
        }

        impl<$($ty: ModuleDisplay),+> ModuleDisplay for ($($ty,)+) {}
    };
}

tuple!(L0 0);
tuple!(L0 0, L1 1);
tuple!(L0 0, L1 1, L2 2);
tuple!(L0 0, L1 1, L2 2, L3 3);
tuple!(L0 0, L1 1, L2 2, L3 3, L4 4);
tuple!(L0 0, L1 1, L2 2, L3 3, L4 4, L5 5);
tuple!(L0 0, L1 1, L2 2, L3 3, L4 4, L5 5, L6 6);
tuple!(L0 0, L1 1, L2 2, L3 3, L4 4, L5 5, L6 6, L7 7);
tuple!(L0 0, L1 1, L2 2, L3 3, L4 4, L5 5, L6 6, L7 7, L8 8);
tuple!(L0 0, L1 1, L2 2, L3 3, L4 4, L5 5, L6 6, L7 7, L8 8, L9 9);
