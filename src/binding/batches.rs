//! Changes that are asked for within one turn of JavaScript: written together, and answered together.
//!
//! A promise that another thread settles takes a thread-safe function of its own, which costs more than a change does.
//! Those of a turn share one, whose value holds the answers of all of them; the script picks out the answer of each.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use napi::JsDeferred;
use napi::bindgen_prelude::*;

use super::error::to_js;
use super::{Threads, foreign, threads};
use crate::error::Error as CoreError;
use crate::write_queue::{Answer, Batched, Done};

type Settle = Box<dyn FnOnce(Env) -> Result<Object<'static>> + Send>;

/// The functions of the script for a kind of changes.
pub trait Answered: Batched {
    /// Begins a turn, and says when to write and when the turn is over.
    const BEGIN_TURN: &'static str;
    /// What the promise for one change gives.
    const ANSWER: &'static str;
    /// What the script gets of an output.
    type Js: ToNapiValue;

    /// Converts an output; `None` if there is nothing to say.
    fn into_js(output: Self::Output) -> Option<Self::Js>;
}

/// The changes that one JavaScript object is asked for.
pub struct Batches<B: Answered>(Rc<RefCell<Turns<B>>>);

impl<B: Answered> Default for Batches<B> {
    fn default() -> Self {
        Batches(Rc::new(RefCell::new(Turns { open: Vec::new(), last: 0 })))
    }
}

/// The turns that are going on, one for each destination: none waits for another's answers.
struct Turns<B: Answered> {
    open: Vec<Turn<B>>,
    /// The number of the last turn that was begun.
    last: u32,
}

struct Turn<B: Answered> {
    number: u32,
    destination: B,
    answers: Arc<Mutex<Answers<B>>>,
}

struct Answers<B: Answered> {
    given: Vec<Option<Answer<B::Output>>>,
    missing: usize,
    is_turn_over: bool,
    deferred: Option<JsDeferred<Object<'static>, Settle>>,
}

impl<B: Answered> Batches<B> {
    /// A promise for what comes of a change, which the JavaScript object `this` was asked for.
    pub fn add<'env, V>(
        &self,
        env: &'env Env,
        this: &Object<'_>,
        destination: &B,
        change: B::Change,
    ) -> Result<PromiseRaw<'env, V>> {
        let is_open = self.0.borrow().open.iter().any(|turn| turn.destination.is_same(destination));
        if !is_open {
            self.begin_turn(env, this, destination)?;
        }
        let turns = self.0.borrow();
        let turn = turns.open.iter().find(|turn| turn.destination.is_same(destination));
        let turn = turn.ok_or_else(|| Error::from_reason("a turn of changes ended before it began"))?;
        let (number, done) = expect_answer(&turn.answers);
        destination.enqueue(change, done);
        foreign::call(env, B::ANSWER, (*this, turn.number, number))
    }

    fn begin_turn(&self, env: &Env, this: &Object<'_>, destination: &B) -> Result<()> {
        let (deferred, promise) = env.create_deferred()?;
        let answers = Answers { given: Vec::new(), missing: 0, is_turn_over: false, deferred: Some(deferred) };
        let number = {
            let mut turns = self.0.borrow_mut();
            turns.last = turns.last.wrapping_add(1);
            let number = turns.last;
            let answers = Arc::new(Mutex::new(answers));
            turns.open.push(Turn { number, destination: destination.clone(), answers });
            number
        };
        let turns = Rc::clone(&self.0);
        let go_on = move |context: FunctionCallContext<'_>| {
            let is_over: bool = context.get(0)?;
            let mut turns = turns.borrow_mut();
            let Some(place) = turns.open.iter().position(|turn| turn.number == number) else { return Ok(()) };
            if is_over {
                drop(turns.open.swap_remove(place));
            } else {
                write(&turns.open[place].destination);
            }
            Ok(())
        };
        let go_on = env.create_function_from_closure::<(), _, _>("goOn", go_on)?;
        foreign::call(env, B::BEGIN_TURN, (*this, number, promise, go_on))
    }
}

/// A turn ends when the script says so, or with its thread: others may have asked for changes to the same meanwhile.
impl<B: Answered> Drop for Turn<B> {
    fn drop(&mut self) {
        update(&self.answers, |answers| answers.is_turn_over = true);
        write(&self.destination);
    }
}

/// Starts to write what waits, unless it is being written.
fn write<B: Answered>(destination: &B) {
    /// So many destinations are written to at the same time; others wait for those.
    const MOST_WRITERS: usize = 512;
    // Threads of their own, since each may have to wait for another process. One that has just written is taken first.
    static THREADS: LazyLock<Threads> = LazyLock::new(|| threads("strands-native writer", MOST_WRITERS));

    if !destination.needs_writer() {
        return;
    }
    match &*THREADS {
        Ok(threads) => {
            let destination = destination.clone();
            threads.spawn_blocking(move || destination.write_waiting());
        }
        Err(error) => {
            let error = CoreError::Internal(format!("no thread could be started to write on: {error}"));
            destination.give_up(error);
        }
    }
}

/// The number of one more answer, and what gives it.
fn expect_answer<B: Answered>(answers: &Arc<Mutex<Answers<B>>>) -> (u32, Done<B::Output>) {
    let number = update(answers, |answers| {
        answers.given.push(None);
        answers.missing += 1;
        answers.given.len() - 1
    });
    let answers = Arc::clone(answers);
    let done = move |answer| {
        update(&answers, |answers| {
            answers.given[number] = Some(answer);
            answers.missing -= 1;
        });
    };
    (u32::try_from(number).unwrap_or(u32::MAX), Box::new(done))
}

/// Settles the promise of the turn with what is the last change that it waits for.
fn update<B: Answered, R>(answers: &Mutex<Answers<B>>, change: impl FnOnce(&mut Answers<B>) -> R) -> R {
    let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
    let changed = change(&mut answers);
    if answers.is_turn_over
        && answers.missing == 0
        && let Some(deferred) = answers.deferred.take()
    {
        let given = std::mem::take(&mut answers.given);
        deferred.resolve(Box::new(move |env| answers_to_js::<B>(&env, given)));
    }
    changed
}

/// The outputs, and in their places the errors of those that there are none of.
fn answers_to_js<B: Answered>(env: &Env, given: Vec<Option<Answer<B::Output>>>) -> Result<Object<'static>> {
    let mut outputs: Vec<Option<B::Js>> = Vec::with_capacity(given.len());
    let mut errors = Object::new(env)?;
    for (number, answer) in given.into_iter().enumerate() {
        outputs.push(match answer {
            Some(Ok(output)) => B::into_js(output),
            Some(Err(error)) => {
                errors.set(number.to_string(), to_js(env, &error))?;
                None
            }
            None => None,
        });
    }
    let mut answers: Object<'static> = Object::new(env)?;
    answers.set("outputs", outputs)?;
    answers.set("errors", errors)?;
    Ok(answers)
}
