//! The indexes of one strategy: those of many folders, of which only so many stay open.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Bm25Index;

/// More are let go when nobody uses them. Each has three files open, and up to eight more while it is searched.
const MOST_OPEN: usize = 64;

/// Indexes by where they are.
#[derive(Default)]
pub struct Indexes {
    by_path: HashMap<PathBuf, Used>,
    /// How often an index was asked for.
    uses: u64,
}

struct Used {
    index: Arc<Bm25Index>,
    /// The number of its last use.
    last: u64,
}

impl Indexes {
    /// The index at `path`, made by `make` if it is not known.
    pub fn get_or_make(&mut self, path: PathBuf, make: impl FnOnce(PathBuf) -> Bm25Index) -> Arc<Bm25Index> {
        self.uses += 1;
        let make = || Used { index: Arc::new(make(path.clone())), last: 0 };
        let used = self.by_path.entry(path.clone()).or_insert_with(make);
        used.last = self.uses;
        Arc::clone(&used.index)
    }

    /// Takes out those that were not used for the longest time, if there are too many. Whoever drops them closes them, which
    /// may block. What somebody still uses stays: another index of the same file would not know of changes that wait.
    pub fn take_superfluous(&mut self) -> Vec<Arc<Bm25Index>> {
        let superfluous = self.by_path.len().saturating_sub(MOST_OPEN);
        if superfluous == 0 {
            return Vec::new();
        }
        let is_idle = |used: &Used| Arc::strong_count(&used.index) == 1;
        let idle = self.by_path.iter().filter(|(_, used)| is_idle(used));
        let mut idle: Vec<(u64, PathBuf)> = idle.map(|(path, used)| (used.last, path.clone())).collect();
        idle.sort_unstable();
        idle.truncate(superfluous);
        idle.iter().filter_map(|(_, path)| self.by_path.remove(path)).map(|used| used.index).collect()
    }

    /// Takes out all.
    pub fn take_all(&mut self) -> Vec<Arc<Bm25Index>> {
        self.by_path.drain().map(|(_, used)| used.index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::normalization::Normalization;

    #[test]
    fn those_that_were_not_used_for_the_longest_time_are_let_go_unless_they_are_in_use() {
        let mut indexes = Indexes::default();
        let get = |indexes: &mut Indexes, number: usize| {
            indexes.get_or_make(number.to_string().into(), |path| Bm25Index::new(path, None, Normalization::None))
        };
        let in_use = get(&mut indexes, 0);
        for number in 1..MOST_OPEN {
            get(&mut indexes, number);
        }
        get(&mut indexes, 1);
        assert!(indexes.take_superfluous().is_empty());
        for number in 0..2 {
            get(&mut indexes, MOST_OPEN + number);
        }
        let paths: Vec<PathBuf> = indexes.take_superfluous().iter().map(|index| index.path().to_owned()).collect();
        assert_eq!(paths, [PathBuf::from("2"), PathBuf::from("3")]);
        assert!(Arc::ptr_eq(&in_use, &get(&mut indexes, 0)));
        assert_eq!(indexes.take_all().len(), MOST_OPEN);
    }
}
