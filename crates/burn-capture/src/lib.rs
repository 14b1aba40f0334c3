//! Recording scopes and captured graphs.
