//! Questions that other threads ask of JavaScript, and its answers.
//!
//! A question goes to a function of the script, by a thread-safe function that does not keep Node alive: the promise of
//! the call that asks does. The answer comes back by number, since JavaScript may take its time. With the environment
//! ends all waiting: nobody would answer any more.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use napi::Status;
use napi::bindgen_prelude::*;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use tokio::sync::oneshot;

use super::options;
use crate::error::Fault;

type Outcome<T> = std::result::Result<T, Fault>;

/// A question: what is asked, of which object, and what else has to be known.
#[derive(Default)]
pub struct Question {
    pub what: &'static str,
    pub name: String,
    pub detail: Option<Detail>,
}

/// What else has to be known.
pub enum Detail {
    Text(String),
    Texts(Vec<String>),
    Bytes(Bytes),
}

type Arguments = FnArgs<(u32, &'static str, String, Option<Either3<String, Vec<String>, Uint8ArraySlice<'static>>>)>;

/// A function of the script that can be asked. It must never throw.
pub type Asked<'env> = Function<'env, Arguments, UnknownReturnValue>;

type Ask = ThreadsafeFunction<(u32, Question), UnknownReturnValue, Arguments, Status, false, true>;

/// Asks one function of the script.
pub struct Asker {
    ask: Ask,
    waiting: Arc<Waiting>,
}

/// Those who wait in one environment.
#[derive(Default)]
struct Waiting(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    last: u32,
    settle: HashMap<u32, Settle>,
    is_over: bool,
}

type Settle = Box<dyn FnOnce(&Env, &Object<'_>) + Send>;

thread_local! {
    /// Those who wait for this JavaScript thread.
    static WAITING: RefCell<Option<Arc<Waiting>>> = const { RefCell::new(None) };
}

impl Asker {
    /// Asks `function`.
    pub fn new(function: &Asked<'_>) -> Result<Self> {
        let builder = function.build_threadsafe_function::<(u32, Question)>();
        let ask = builder.callee_handled::<false>().weak::<true>().build_callback(|context| {
            let (number, Question { what, name, detail }) = context.value;
            let detail = match detail {
                Some(Detail::Text(text)) => Some(Either3::A(text)),
                Some(Detail::Texts(texts)) => Some(Either3::B(texts)),
                Some(Detail::Bytes(bytes)) => Some(Either3::C(Uint8ArraySlice::copy_from(&context.env, bytes)?)),
                None => None,
            };
            Ok((number, what, name, detail).into())
        })?;
        let waiting = WAITING.with_borrow(Clone::clone);
        Ok(Asker { ask, waiting: waiting.ok_or_else(|| Error::from_reason("the addon was not initialised here"))? })
    }

    /// What JavaScript answers, as `read` finds it in the object.
    pub fn ask<T: Send + 'static>(
        &self,
        question: Question,
        read: impl FnOnce(&Env, &Object<'_>) -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Outcome<T>> + Send + 'static {
        let answer = self.put(question, read);
        async { answer.await.unwrap_or_else(|_| Err(nobody_answers())) }
    }

    /// The same. Blocks until then: never call it on the JavaScript thread.
    pub fn ask_and_wait<T: Send + 'static>(
        &self,
        question: Question,
        read: impl FnOnce(&Env, &Object<'_>) -> Result<T> + Send + 'static,
    ) -> Outcome<T> {
        self.put(question, read).blocking_recv().unwrap_or_else(|_| Err(nobody_answers()))
    }

    fn put<T: Send + 'static>(
        &self,
        question: Question,
        read: impl FnOnce(&Env, &Object<'_>) -> Result<T> + Send + 'static,
    ) -> oneshot::Receiver<Outcome<T>> {
        let (sender, receiver) = oneshot::channel();
        let settle = move |env: &Env, answer: &Object<'_>| {
            // Whoever asked may not wait any more.
            let _ = sender.send(outcome(env, answer, read));
        };
        if let Some(number) = self.waiting.add(Box::new(settle))
            && self.ask.call((number, question), ThreadsafeFunctionCallMode::NonBlocking) != Status::Ok
        {
            drop(self.waiting.take(number));
        }
        receiver
    }
}

fn nobody_answers() -> Fault {
    Fault {
        code: "ERR_WORKER_OUT".to_owned(),
        message: "the JavaScript thread that was asked has ended".to_owned(),
        request_id: None,
    }
}

impl Waiting {
    fn update<T>(&self, change: impl FnOnce(&mut Queue) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, settle: Settle) -> Option<u32> {
        self.update(|queue| {
            queue.last = queue.last.wrapping_add(1);
            (!queue.is_over).then(|| queue.settle.insert(queue.last, settle))?;
            Some(queue.last)
        })
    }

    fn take(&self, number: u32) -> Option<Settle> {
        self.update(|queue| queue.settle.remove(&number))
    }

    fn end(&self) {
        let waiting = self.update(|queue| {
            queue.is_over = true;
            std::mem::take(&mut queue.settle)
        });
        drop(waiting);
    }
}

/// A function by which the script of this environment answers. All of them are the same: questions of one may be
/// answered by another, where the module was loaded twice.
pub fn settle(env: &Env) -> Result<Function<'_, (), ()>> {
    let waiting = WAITING.with_borrow_mut(|known| {
        if let Some(waiting) = known {
            return Ok(Arc::clone(waiting));
        }
        let waiting = Arc::clone(known.insert(Arc::default()));
        env.add_env_cleanup_hook(Arc::clone(&waiting), |waiting| {
            waiting.end();
            drop(WAITING.take());
        })?;
        Ok::<_, Error>(waiting)
    })?;
    let settle = move |context: FunctionCallContext<'_>| {
        let number: u32 = context.get(0)?;
        let answer: Object<'_> = context.get(1)?;
        if let Some(settle) = waiting.take(number) {
            settle(context.env, &answer);
        }
        Ok(())
    };
    env.create_function_from_closure("settle", settle)
}

/// What an answer holds: a reply, or a fault.
fn outcome<T>(env: &Env, answer: &Object<'_>, read: impl FnOnce(&Env, &Object<'_>) -> Result<T>) -> Outcome<T> {
    let outcome = match options::property(env, answer, "fault") {
        Ok(Some(fault)) => fault_of(env, fault).map(Err),
        Ok(None) => read(env, answer).map(Ok),
        Err(error) => Err(error),
    };
    outcome.unwrap_or_else(|error| {
        Err(Fault { code: "InvalidResponse".to_owned(), message: error.reason.to_string(), request_id: None })
    })
}

fn fault_of(env: &Env, fault: Unknown<'_>) -> Result<Fault> {
    let fault = options::object(env, "fault", fault)?;
    let text = |name| match options::property(env, &fault, name)? {
        Some(value) => options::lossy_text(env, name, value).map(Some),
        None => Ok(None),
    };
    Ok(Fault {
        code: text("code")?.unwrap_or_default(),
        message: text("message")?.unwrap_or_default(),
        request_id: text("requestId")?,
    })
}
