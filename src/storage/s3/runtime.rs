//! Where requests run: two threads, which start with the first request and stay.

use std::future::Future;
use std::io;
use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::{Error, Result};

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread().worker_threads(2).thread_name("strands-native s3").enable_all().build()
});

/// Lets `work` go on by itself.
///
/// # Errors
/// [`Error::Internal`] if no thread can be started.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<JoinHandle<T>> {
    Ok(runtime()?.spawn(work))
}

/// What `work` gives. Blocks until then.
///
/// # Errors
/// Those of `work`, and [`Error::Internal`] if no thread can be started.
pub fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    runtime()?.block_on(work)
}

fn runtime() -> Result<&'static Runtime> {
    RUNTIME.as_ref().map_err(|error| Error::Internal(error.to_string()))
}
