//! The JavaScript side: one class per core type, each a thin translation.
//!
//! # How work leaves the JavaScript thread and comes back
//! [`inline`] for what takes no longer than handing it over would; [`off_thread`] for one-shot file work, on Node's own
//! pool, which is the cheapest hop there is; [`awaited`] for a request to a network, which needs no thread; [`remote`] for
//! searches that make many, on threads of their own, since Node has only four; [`batches`] for what is answered by someone
//! else in time. All five give a promise and report every fault through it: methods take their arguments as `Unknown` and
//! convert them themselves, since a conversion by napi-derive would throw.
//!
//! The other way round, [`questions`] lets other threads ask something of JavaScript.

pub mod batches;
pub mod bm25;
pub mod error;
pub mod foreign;
pub mod foreign_storage;
pub mod memory;
pub mod options;
pub mod questions;
pub mod search;
pub mod storage;

use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use napi::bindgen_prelude::*;
use napi::{JsDeferred, Task};
use tokio::runtime::{Builder, Runtime};

use crate::error::{Error as CoreError, Result as CoreResult};
use crate::storage::s3::runtime;

/// Exports what napi-derive cannot express. Runs again when a module cache was cleared, and must then change nothing.
#[napi_derive::napi(module_exports)]
pub fn init(mut exports: Object<'_>, env: Env) -> Result<()> {
    foreign::init(&env, &exports)?;
    exports.set("STOP_WORDS", search::stop_words(&env)?)
}

/// A promise for what `work` gives, which is done at once.
fn inline<'env, T, V: ToNapiValue>(
    env: &'env Env,
    work: impl FnOnce() -> Result<T>,
    into_js: impl FnOnce(&'env Env, T) -> Result<V>,
) -> Result<PromiseRaw<'env, V>> {
    let outcome = catch_unwind(AssertUnwindSafe(|| work().and_then(|output| into_js(env, output))));
    match outcome.unwrap_or_else(|panic| Err(error::to_js(env, &CoreError::from_panic(panic.as_ref())))) {
        Ok(value) => PromiseRaw::resolve(env, value),
        Err(error) => PromiseRaw::reject(env, error),
    }
}

/// A promise for what `work` gives on another thread.
fn off_thread<'env, A, T, V>(
    env: &'env Env,
    arguments: Result<A>,
    work: impl FnOnce(A) -> CoreResult<T> + Send + 'static,
    into_js: fn(&Env, T) -> Result<V>,
) -> Result<PromiseRaw<'env, V>>
where
    A: Send + 'static,
    T: Send + 'static,
    V: ToNapiValue + TypeName + 'static,
{
    match arguments {
        Ok(arguments) => {
            let work: Work<T> = Box::new(move || work(arguments));
            Ok(env.spawn(OffThread { work: Some(work), into_js })?.promise_object())
        }
        Err(error) => PromiseRaw::reject(env, error),
    }
}

/// A promise for what `work` gives, which holds no thread while it waits for a network.
fn awaited<'env, A, T, V, F>(
    env: &'env Env,
    arguments: Result<A>,
    work: impl FnOnce(A) -> F,
    into_js: fn(&Env, T) -> Result<V>,
) -> Result<Unknown<'env>>
where
    T: Send + 'static,
    V: ToNapiValue + 'static,
    F: Future<Output = CoreResult<T>> + Send + 'static,
{
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => return Ok(PromiseRaw::<V>::reject(env, error)?.to_unknown()),
    };
    let work = match runtime::spawn(work(arguments)) {
        Ok(work) => work,
        Err(error) => return Ok(PromiseRaw::<V>::reject(env, error::to_js(env, &error))?.to_unknown()),
    };
    let (deferred, promise) = env.create_deferred()?;
    runtime::spawn(async move {
        let outcome = work.await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => Err(CoreError::from_panic(panic.as_ref())),
            Err(error) => Err(CoreError::Internal(error.to_string())),
        });
        settle(deferred, outcome, into_js);
    })
    .map_err(|error| error::to_js(env, &error))?;
    Ok(promise.to_unknown())
}

type Threads = io::Result<Runtime>;

/// Up to so many threads, which come when they are needed and go when they have been idle: a runtime for its pool alone.
fn threads(name: &str, most: usize) -> Threads {
    Builder::new_current_thread().max_blocking_threads(most).thread_name(name).build()
}

/// A promise for what `work` gives on a thread that has nothing else to do than to wait for it.
fn remote<'env, A, T, V>(
    env: &'env Env,
    arguments: Result<A>,
    work: impl FnOnce(A) -> CoreResult<T> + Send + 'static,
    into_js: fn(&Env, T) -> Result<V>,
) -> Result<Unknown<'env>>
where
    A: Send + 'static,
    T: Send + 'static,
    V: ToNapiValue + 'static,
{
    /// So many calls wait at the same time; others wait for those. None of them may need another of them to go on.
    const MOST_CALLS: usize = 128;
    static THREADS: LazyLock<Threads> = LazyLock::new(|| threads("strands-native call", MOST_CALLS));

    let refused = |error| Ok(PromiseRaw::<V>::reject(env, error)?.to_unknown());
    let (arguments, threads) = match (arguments, &*THREADS) {
        (Ok(arguments), Ok(threads)) => (arguments, threads),
        (Err(error), _) => return refused(error),
        (_, Err(error)) => return refused(error::to_js(env, &CoreError::Internal(error.to_string()))),
    };
    let (deferred, promise) = env.create_deferred()?;
    threads.spawn_blocking(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(arguments)));
        settle(deferred, outcome.unwrap_or_else(|panic| Err(CoreError::from_panic(panic.as_ref()))), into_js);
    });
    Ok(promise.to_unknown())
}

type Answer<V> = Box<dyn FnOnce(Env) -> Result<V> + Send>;

/// Settles a promise from another thread.
fn settle<T: Send + 'static, V: ToNapiValue + 'static>(
    deferred: JsDeferred<V, Answer<V>>,
    outcome: CoreResult<T>,
    into_js: fn(&Env, T) -> Result<V>,
) {
    deferred.resolve(Box::new(move |env| match outcome {
        Ok(output) => into_js(&env, output),
        Err(error) => Err(error::to_js(&env, &error)),
    }));
}

type Work<T> = Box<dyn FnOnce() -> CoreResult<T> + Send>;

struct OffThread<T, V> {
    work: Option<Work<T>>,
    into_js: fn(&Env, T) -> Result<V>,
}

impl<T: Send + 'static, V: ToNapiValue + TypeName + 'static> Task for OffThread<T, V> {
    type Output = CoreResult<T>;
    type JsValue = V;

    fn compute(&mut self) -> Result<Self::Output> {
        let work = self.work.take().expect("a task is computed once");
        // A panic must not reach libuv's C frames.
        Ok(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(CoreError::from_panic(panic.as_ref()))))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> Result<V> {
        match output {
            Ok(output) => (self.into_js)(&env, output),
            Err(error) => Err(error::to_js(&env, &error)),
        }
    }
}
