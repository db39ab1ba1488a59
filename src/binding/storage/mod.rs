//! The storage backends.
//!
//! A storage without a strategy or a sandbox stays in Rust. With one, the script of `foreign.rs` calls it: the methods
//! then convert the arguments, do what is ours to do, and hand over.

mod backend;
mod in_memory;
mod local_file;
mod namespaced;
mod s3;
mod s3_client;
mod s3_options;
mod storage_options;

use napi::PropertyAttributes;
use napi::bindgen_prelude::*;

pub use backend::Backend;
use backend::Place;
use storage_options::StorageOptions;

/// The symbols by which the SDK knows a view, and a backend that forgets.
const NAMESPACED: &str = "strands.storage.namespaced";
const EPHEMERAL: &str = "strands.storage.ephemeral";

/// Gives `object` a property that the SDK looks for with `in`.
fn mark(env: &Env, object: &mut Object<'_>, symbol: &str) -> Result<()> {
    let property = Property::new()
        .with_name(env, Symbol::for_desc(symbol))?
        .with_value(&true.into_unknown(env)?)
        .with_property_attributes(PropertyAttributes::Default);
    object.define_properties(&[property])
}
