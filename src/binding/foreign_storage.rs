//! A storage written in JavaScript, used by a thread of ours as any storage of the core.
//!
//! Each call asks the JavaScript thread and waits for its answer: never call one on that thread.

use std::cell::Cell;
use std::sync::mpsc::{self, Sender};

use bytes::Bytes;
use napi::JsValue;
use napi::bindgen_prelude::*;
use napi::threadsafe_function::{ThreadsafeCallContext, ThreadsafeFunction, ThreadsafeFunctionCallMode};

use super::options;
use crate::error::{Error as CoreError, Result as CoreResult};
use crate::search::bm25::Progress;
use crate::storage::key::{Key, Prefix};
use crate::storage::{Storage, Version};

/// What the script's function takes: the operation, its argument, and the function that takes the answer.
type Arguments = FnArgs<(&'static str, Either3<String, Vec<String>, Vec<f64>>, Unknown<'static>)>;

/// A function of the script that does what a request asks for.
pub type Perform<'env> = Function<'env, Arguments, ()>;

/// A storage to be asked through the script.
pub struct ForeignStorage {
    ask: ThreadsafeFunction<Request, (), Arguments, Status, false>,
}

struct Request {
    operation: Operation,
    answers: Sender<Answer>,
}

enum Operation {
    List,
    Read(Key),
    Existing(Vec<Key>),
    Progress(Progress),
}

enum Answer {
    Keys(Vec<String>),
    Value(Option<Bytes>),
    Existing(Vec<bool>),
    Nothing,
}

impl ForeignStorage {
    /// The storage behind the script's function `perform`.
    pub fn new(perform: &Perform<'_>) -> Result<Self> {
        let ask = perform
            .build_threadsafe_function::<Request>()
            .callee_handled::<false>()
            .build_callback(|context: ThreadsafeCallContext<Request>| to_arguments(&context.env, context.value))?;
        Ok(ForeignStorage { ask })
    }

    /// Tells JavaScript how far a backfill is.
    pub fn report(&self, progress: Progress) -> CoreResult<()> {
        self.ask(Operation::Progress(progress)).map(drop)
    }

    fn ask(&self, operation: Operation) -> CoreResult<Answer> {
        let (answers, answer) = mpsc::channel();
        self.ask.call(Request { operation, answers }, ThreadsafeFunctionCallMode::NonBlocking);
        // Without an answer: JavaScript threw, and the script has kept what; or its thread has ended.
        answer.recv().map_err(|_| CoreError::Foreign)
    }
}

impl Storage for ForeignStorage {
    fn write(&self, _key: &Key, _data: Bytes) -> CoreResult<()> {
        Err(CoreError::Foreign)
    }

    fn read(&self, key: &Key) -> CoreResult<Option<Bytes>> {
        match self.ask(Operation::Read(key.clone()))? {
            Answer::Value(value) => Ok(value),
            _ => Err(CoreError::Foreign),
        }
    }

    fn delete(&self, _key: &Key) -> CoreResult<()> {
        Err(CoreError::Foreign)
    }

    fn list(&self, prefix: &Prefix) -> CoreResult<Vec<Key>> {
        match self.ask(Operation::List)? {
            Answer::Keys(keys) => {
                Ok(keys.into_iter().map(Key::from_listing).filter(|key| prefix.matches(key)).collect())
            }
            _ => Err(CoreError::Foreign),
        }
    }

    fn entries(&self, prefix: &Prefix) -> CoreResult<Vec<(Key, Version)>> {
        Ok(self.list(prefix)?.into_iter().map(|key| (key, Version::Unknown)).collect())
    }

    fn exists(&self, key: &Key) -> CoreResult<bool> {
        Ok(self.existing(std::slice::from_ref(key))? == [true])
    }

    fn existing(&self, keys: &[Key]) -> CoreResult<Vec<bool>> {
        match self.ask(Operation::Existing(keys.to_vec()))? {
            Answer::Existing(existing) if existing.len() == keys.len() => Ok(existing),
            _ => Err(CoreError::Foreign),
        }
    }
}

fn to_arguments(env: &Env, request: Request) -> Result<Arguments> {
    let Request { operation, answers } = request;
    let text = |key: &Key| key.as_str().to_owned();
    let (name, argument) = match &operation {
        Operation::List => ("list", Either3::A(String::new())),
        Operation::Read(key) => ("read", Either3::A(text(key))),
        Operation::Existing(keys) => ("existing", Either3::B(keys.iter().map(text).collect())),
        Operation::Progress(Progress { done, total }) => ("progress", Either3::C(vec![*done as f64, *total as f64])),
    };
    // Gone with the first call: whoever waits for an answer learns when there will be none.
    let answers = Cell::new(Some(answers));
    let take = move |context: FunctionCallContext<'_>| {
        let Some(answers) = answers.take() else { return Ok(()) };
        if context.length() > 0 {
            let answer = to_answer(context.env, &operation, context.get(0)?)?;
            // Nobody waits any more where the thread has ended.
            let _ = answers.send(answer);
        }
        Ok(())
    };
    let take = env.create_function_from_closure::<(), _, _>("answer", take)?;
    // SAFETY: the value was made in this environment a moment ago, and is an argument of the call that follows at once.
    let take = unsafe { Unknown::from_raw_unchecked(env.raw(), take.raw()) };
    Ok((name, argument, take).into())
}

fn to_answer(env: &Env, operation: &Operation, value: Unknown<'_>) -> Result<Answer> {
    Ok(match operation {
        Operation::List => Answer::Keys(Vec::from_unknown(value)?),
        Operation::Read(_) if !options::is_truthy(value)? => Answer::Value(None),
        Operation::Read(_) => Answer::Value(Some(options::bytes(env, "data", value)?)),
        Operation::Existing(_) => Answer::Existing(Vec::from_unknown(value)?),
        Operation::Progress(_) => Answer::Nothing,
    })
}
