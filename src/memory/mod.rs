//! What an agent remembers.

pub mod json;
pub mod records;
pub mod test_memory_store;

mod memory_file;
mod recall;
