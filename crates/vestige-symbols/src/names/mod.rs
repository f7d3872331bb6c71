//! Names of functions as people read them.

pub(crate) mod cpp_name;
pub(crate) mod demangle;
pub(crate) mod function_name;
pub(crate) mod source_path;
