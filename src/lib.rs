#![doc = include_str!("../ARCHITECTURE.md")]

pub mod atomic_file;
pub mod error;
pub mod memory;
pub mod search;
pub mod storage;
pub mod write_queue;
pub mod wtf8;

mod file_lock;

#[cfg(feature = "binding")]
#[cfg_attr(test, allow(dead_code, reason = "napi-derive exports nothing from a test build"))]
mod binding;
