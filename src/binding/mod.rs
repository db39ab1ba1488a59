//! The JavaScript side: one class per core type, each a thin translation.
//!
//! # How work leaves the JavaScript thread and comes back
//! [`inline`] for what takes no longer than handing it over would; [`off_thread`] for one-shot file work, on Node's own
//! pool, which is the cheapest hop there is; [`batches`] for what is answered by someone else in time. All three give a
//! promise and report every fault through it: methods take their arguments as `Unknown` and convert them themselves,
//! since a conversion by napi-derive would throw.

pub mod batches;
pub mod bm25;
pub mod error;
pub mod foreign;
pub mod foreign_storage;
pub mod memory;
pub mod options;
pub mod search;
pub mod storage;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use napi::Task;
use napi::bindgen_prelude::*;

use crate::error::{Error as CoreError, Result as CoreResult};

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

/// A promise for what `work` gives on a thread of its own, where it may take long or wait for JavaScript.
fn on_own_thread<'env, T, V>(
    env: &'env Env,
    work: impl FnOnce() -> CoreResult<T> + Send + 'static,
    into_js: fn(&Env, T) -> Result<V>,
) -> Result<Object<'env>>
where
    T: Send + 'static,
    V: ToNapiValue + 'static,
{
    type Settle<V> = Box<dyn FnOnce(Env) -> Result<V> + Send>;
    let (deferred, promise) = env.create_deferred::<V, Settle<V>>()?;
    // Where no thread starts, it is still here to be settled.
    let deferred = Arc::new(Mutex::new(Some(deferred)));
    let settle = move |outcome: CoreResult<T>| {
        if let Some(deferred) = deferred.lock().unwrap_or_else(PoisonError::into_inner).take() {
            deferred.resolve(Box::new(move |env| match outcome {
                Ok(output) => into_js(&env, output),
                Err(error) => Err(error::to_js(&env, &error)),
            }));
        }
    };
    let settle_later = settle.clone();
    let thread = thread::Builder::new().name("strands-native worker".into());
    let started = thread.spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(work));
        settle_later(outcome.unwrap_or_else(|panic| Err(CoreError::from_panic(panic.as_ref()))));
    });
    if let Err(error) = started {
        settle(Err(CoreError::Internal(format!("no thread could be started: {error}"))));
    }
    Ok(promise)
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
