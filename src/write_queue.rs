//! Changes that wait to be written together, by whoever comes first.
//!
//! Whoever comes to write and finds nobody at it does so until the queue is empty, taking all that waits at each round:
//! a burst of changes costs a few rounds, and a thread that finds another at it need not wait.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// What became of a change. Errors are shared by all that were to be written together.
pub type Answer<T> = Result<T, Arc<Error>>;

/// Receives what became of a change.
pub type Done<T> = Box<dyn FnOnce(Answer<T>) + Send>;

/// Where changes go that are written together.
pub trait Batched: Clone + Send + 'static {
    /// What is to be written.
    type Change;
    /// What comes of it.
    type Output: Send + 'static;

    /// Queues a change. It waits until [`write_waiting`](Self::write_waiting) is called, by whomever.
    fn enqueue(&self, change: Self::Change, done: Done<Self::Output>);

    /// Writes until nothing waits, unless another thread is at it. May block.
    fn write_waiting(&self);

    /// Fails what waits, unless another thread is at it.
    fn give_up(&self, error: Error);

    /// Whether something waits that no thread is going to take.
    fn needs_writer(&self) -> bool;

    /// Whether both lead to the same queue.
    fn is_same(&self, other: &Self) -> bool;
}

/// A queue of changes.
pub struct WriteQueue<C, T> {
    state: Mutex<State<C, T>>,
}

struct State<C, T> {
    waiting: Vec<(C, Done<T>)>,
    is_written: bool,
}

impl<C, T> Default for WriteQueue<C, T> {
    fn default() -> Self {
        WriteQueue { state: Mutex::new(State { waiting: Vec::new(), is_written: false }) }
    }
}

impl<C, T> WriteQueue<C, T> {
    /// See [`Batched::enqueue`].
    pub fn push(&self, change: C, done: Done<T>) {
        self.state().waiting.push((change, done));
    }

    /// See [`Batched::needs_writer`].
    pub fn needs_writer(&self) -> bool {
        let state = self.state();
        !state.is_written && !state.waiting.is_empty()
    }

    /// Hands all that waits to `write`, again and again until nothing does; `write` gives an answer to each change. If it
    /// panics, they are answered with that.
    pub fn write_waiting(&self, write: impl Fn(&[C]) -> Vec<Answer<T>>) {
        if mem::replace(&mut self.state().is_written, true) {
            return;
        }
        let writing = Writing(self);
        loop {
            let (changes, dones): (Vec<C>, Vec<Done<T>>) = {
                let mut state = self.state();
                if state.waiting.is_empty() {
                    // Under the same lock: what is queued after this finds nobody at it.
                    state.is_written = false;
                    mem::forget(writing);
                    return;
                }
                mem::take(&mut state.waiting).into_iter().unzip()
            };
            match catch_unwind(AssertUnwindSafe(|| write(&changes))) {
                Ok(answers) => dones.into_iter().zip(answers).for_each(|(done, answer)| done(answer)),
                Err(panic) => fail_all(dones, Error::from_panic(panic.as_ref())),
            }
        }
    }

    /// See [`Batched::give_up`].
    pub fn give_up(&self, error: Error) {
        let mut state = self.state();
        if !state.is_written {
            let waiting = mem::take(&mut state.waiting);
            drop(state);
            fail_all(waiting.into_iter().map(|(_, done)| done), error);
        }
    }

    fn state(&self) -> MutexGuard<'_, State<C, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That a thread writes, which ends with it even if it panics.
struct Writing<'a, C, T>(&'a WriteQueue<C, T>);

impl<C, T> Drop for Writing<'_, C, T> {
    fn drop(&mut self) {
        self.0.state().is_written = false;
    }
}

fn fail_all<T>(dones: impl IntoIterator<Item = Done<T>>, error: Error) {
    let error = Arc::new(error);
    dones.into_iter().for_each(|done| done(Err(Arc::clone(&error))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn what_waits_is_written_together_and_each_change_gets_its_answer() {
        let queue = WriteQueue::default();
        let (answers, received) = mpsc::channel();
        for number in 0..3 {
            let answers = answers.clone();
            queue.push(number, Box::new(move |answer| answers.send(answer.unwrap()).unwrap()));
        }
        queue.write_waiting(|changes| changes.iter().map(|number| Ok((changes.len(), *number))).collect());
        assert_eq!(received.try_iter().collect::<Vec<_>>(), [(3, 0), (3, 1), (3, 2)]);
        assert!(!queue.needs_writer());
    }

    #[test]
    fn a_writer_that_panics_answers_and_leaves_the_queue_usable() {
        let queue = WriteQueue::default();
        let (answers, received) = mpsc::channel();
        let done =
            |answers: mpsc::Sender<Answer<()>>| -> Done<()> { Box::new(move |answer| answers.send(answer).unwrap()) };
        queue.push((), done(answers.clone()));
        queue.write_waiting(|_| panic!("on purpose"));
        let error = received.try_recv().unwrap().unwrap_err();
        assert!(matches!(&*error, Error::Internal(message) if message == "on purpose"));
        queue.push((), done(answers));
        assert!(queue.needs_writer());
        queue.write_waiting(|changes| changes.iter().map(|()| Ok(())).collect());
        assert!(received.try_recv().unwrap().is_ok());
    }
}
