use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::search::keyword::{DEFAULT_CACHE_BYTES, KeywordQuery, KeywordSearch};
use crate::search::normalization::Normalization;
use crate::storage::conformance;

/// A bucket in memory, which counts what it is asked and lists two objects a page, in the order of bytes.
#[derive(Default)]
struct Bucket {
    objects: Mutex<BTreeMap<String, Bytes>>,
    gets: AtomicUsize,
    lists: AtomicUsize,
    page_length: usize,
}

impl Bucket {
    fn new(page_length: usize) -> Arc<Self> {
        Arc::new(Bucket { page_length, ..Bucket::default() })
    }

    /// How many objects and how many pages were asked for since the last time.
    fn requests(&self) -> (usize, usize) {
        (self.gets.swap(0, Ordering::Relaxed), self.lists.swap(0, Ordering::Relaxed))
    }
}

fn etag_of(data: &Bytes) -> String {
    format!("{data:?}")
}

fn fault(code: &str) -> Fault {
    Fault { code: code.to_owned(), message: "no".to_owned(), request_id: None }
}

fn done<T: Send + 'static>(answer: Answer<T>) -> Pending<T> {
    Box::pin(std::future::ready(answer))
}

impl Requests for Bucket {
    fn put(&self, object: String, data: Bytes) -> Pending<()> {
        self.objects.lock().unwrap().insert(object, data);
        done(Ok(()))
    }

    fn get(&self, object: String) -> Pending<Content> {
        self.gets.fetch_add(1, Ordering::Relaxed);
        let data = self.objects.lock().unwrap().get(&object).cloned().ok_or_else(|| fault("NoSuchKey"));
        done(data.map(|data| Content { etag: etag_of(&data), data }))
    }

    fn head(&self, object: String) -> Pending<()> {
        done(self.objects.lock().unwrap().get(&object).map(drop).ok_or_else(|| fault("NotFound")))
    }

    fn delete(&self, object: String) -> Pending<()> {
        self.objects.lock().unwrap().remove(&object);
        done(Ok(()))
    }

    fn list(&self, prefix: String, page: Option<String>) -> Pending<Page> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        let objects = self.objects.lock().unwrap();
        let first = page.map_or(0, |page| page.parse().unwrap());
        let mut matching = objects.iter().filter(|(name, _)| name.starts_with(&prefix)).skip(first);
        let page = matching.by_ref().take(self.page_length);
        let objects =
            page.map(|(name, data)| Object { name: name.replace('%', "%25").replace('+', "%2B"), etag: etag_of(data) });
        let objects = objects.collect();
        let next = matching.next().map(|_| (first + self.page_length).to_string());
        done(Ok(Page { objects, is_encoded: true, is_truncated: next.is_some(), next }))
    }
}

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn listed(storage: &S3Storage, prefix: &str) -> Vec<String> {
    let keys = storage.list(&Prefix::parse(prefix).unwrap()).unwrap();
    keys.iter().map(Key::to_string).collect()
}

#[test]
fn behaves_as_every_storage_does() {
    for prefix in ["", "agents", "/deep//down/"] {
        let storage = S3Storage::new("bucket", prefix, Bucket::new(2));
        conformance::check(&storage);
        conformance::check(&storage.namespace(&Prefix::parse("view").unwrap()));
    }
}

#[test]
fn a_prefix_loses_its_empty_parts_as_in_the_sdk() {
    let prefix = |text| S3Storage::new("bucket", text, Bucket::new(2)).prefix.to_string();
    assert_eq!(["", "/", "a", "/a//b/"].map(prefix), ["", "/", "a/", "a/b/"]);
}

#[test]
fn a_view_never_sees_what_only_begins_with_its_name() {
    let storage = S3Storage::new("bucket", "", Bucket::new(2));
    for name in ["mem/a", "memory/b", "mem"] {
        storage.write(&key(name), Bytes::new()).unwrap();
    }
    let view = storage.namespace(&Prefix::parse("mem").unwrap());
    assert_eq!(listed(&view, ""), ["a"]);
    assert_eq!(listed(&view.namespace(&Prefix::default()), ""), ["a"]);
}

#[test]
fn objects_that_no_key_names_are_left_out() {
    let bucket = Bucket::new(2);
    for object in ["p/", "p/folder/", "p//a", "p/a/../b", "p/a\\b", "p/kept"] {
        drop(bucket.put(object.to_owned(), Bytes::new()));
    }
    assert_eq!(listed(&S3Storage::new("bucket", "p", bucket), ""), ["kept"]);
}

#[test]
fn a_page_without_objects_is_not_the_last_if_it_names_another() {
    struct EmptyFirst(Arc<Bucket>);
    impl Requests for EmptyFirst {
        fn put(&self, object: String, data: Bytes) -> Pending<()> {
            self.0.put(object, data)
        }
        fn get(&self, object: String) -> Pending<Content> {
            self.0.get(object)
        }
        fn head(&self, object: String) -> Pending<()> {
            self.0.head(object)
        }
        fn delete(&self, object: String) -> Pending<()> {
            self.0.delete(object)
        }
        fn list(&self, prefix: String, page: Option<String>) -> Pending<Page> {
            match page {
                Some(page) => self.0.list(prefix, Some(page)),
                None => done(Ok(Page { is_truncated: true, next: Some("0".to_owned()), ..Page::default() })),
            }
        }
    }
    let storage = S3Storage::new("bucket", "", Arc::new(EmptyFirst(Bucket::new(2))));
    storage.write(&key("k"), Bytes::new()).unwrap();
    assert_eq!(listed(&storage, ""), ["k"]);
}

#[test]
fn a_fault_is_told_with_its_source_and_only_a_missing_object_is_none() {
    struct Failing(&'static str);
    impl Requests for Failing {
        fn put(&self, _: String, _: Bytes) -> Pending<()> {
            done(Err(fault(self.0)))
        }
        fn get(&self, _: String) -> Pending<Content> {
            done(Err(fault(self.0)))
        }
        fn head(&self, _: String) -> Pending<()> {
            done(Err(fault(self.0)))
        }
        fn delete(&self, _: String) -> Pending<()> {
            done(Err(fault(self.0)))
        }
        fn list(&self, _: String, _: Option<String>) -> Pending<Page> {
            done(Err(fault(self.0)))
        }
    }
    for code in ["NoSuchBucket", "AccessDenied", "HTTP 500"] {
        let storage = S3Storage::new("b", "p", Arc::new(Failing(code)));
        let errors = [
            storage.write(&key("k"), Bytes::new()).unwrap_err(),
            storage.read(&key("k")).unwrap_err(),
            storage.exists(&key("k")).unwrap_err(),
            storage.delete(&key("k")).unwrap_err(),
            storage.list(&Prefix::parse("x/").unwrap()).unwrap_err(),
        ];
        let said = [
            "Failed to write 'k' to S3 bucket 'b'",
            "Failed to read 'k' from S3 bucket 'b'",
            "Failed to read 'k' from S3 bucket 'b'",
            "Failed to delete 'k' from S3 bucket 'b'",
            "Failed to list S3 bucket 'b' under 'x/'",
        ];
        for (error, said) in errors.iter().zip(said) {
            assert_eq!(error.to_string(), said);
            let source = std::error::Error::source(error).unwrap().downcast_ref::<Fault>();
            assert_eq!(source, Some(&fault(code)));
        }
    }
    let storage = S3Storage::new("b", "", Arc::new(Failing("NoSuchKey")));
    assert_eq!(storage.read(&key("k")).unwrap(), None);
    storage.delete(&key("k")).unwrap();
}

#[test]
fn a_search_gets_each_object_once_and_then_only_what_has_changed() {
    let bucket = Bucket::new(1_000);
    let storage = S3Storage::new("bucket", "p", bucket.clone());
    for number in 0..2_501 {
        storage.write(&key(&format!("notes/{number}.md")), Bytes::from(format!("note {number}"))).unwrap();
    }
    let keyword = KeywordSearch::new(DEFAULT_CACHE_BYTES);
    let search = || keyword.search(&storage, &KeywordQuery::new("note", Normalization::None)).unwrap().len();
    assert_eq!((search(), bucket.requests()), (2_501, (2_501, 3)));
    assert_eq!((search(), bucket.requests()), (2_501, (0, 3)));
    storage.write(&key("notes/7.md"), Bytes::from("other")).unwrap();
    storage.write(&key("notes/new.md"), Bytes::from("note")).unwrap();
    storage.delete(&key("notes/8.md")).unwrap();
    assert_eq!((search(), bucket.requests()), (2_500, (2, 3)));
    assert_eq!((search(), bucket.requests()), (2_500, (0, 3)));
}

#[test]
fn an_object_that_changes_between_listing_and_get_and_back_again_is_found_as_it_is() {
    /// Lists every object as if it held `one`.
    struct Late(Arc<Bucket>);
    impl Requests for Late {
        fn put(&self, object: String, data: Bytes) -> Pending<()> {
            self.0.put(object, data)
        }
        fn get(&self, object: String) -> Pending<Content> {
            self.0.get(object)
        }
        fn head(&self, object: String) -> Pending<()> {
            self.0.head(object)
        }
        fn delete(&self, object: String) -> Pending<()> {
            self.0.delete(object)
        }
        fn list(&self, prefix: String, page: Option<String>) -> Pending<Page> {
            let page = self.0.list(prefix, page);
            Box::pin(async {
                let mut page = page.await?;
                page.objects.iter_mut().for_each(|object| object.etag = etag_of(&Bytes::from("one")));
                Ok(page)
            })
        }
    }
    let storage = S3Storage::new("bucket", "", Arc::new(Late(Bucket::new(2))));
    let keyword = KeywordSearch::new(DEFAULT_CACHE_BYTES);
    let finds = |word| !keyword.search(&storage, &KeywordQuery::new(word, Normalization::None)).unwrap().is_empty();
    storage.write(&key("k"), Bytes::from("two")).unwrap();
    assert!(finds("two"));
    storage.write(&key("k"), Bytes::from("one")).unwrap();
    assert!(finds("one") && !finds("two"));
}

#[test]
fn an_object_without_an_etag_is_got_at_each_search() {
    assert!(!Version::ETag("".into()).is_settled(std::time::SystemTime::now()));
    assert!(Version::ETag("1".into()).is_settled(std::time::SystemTime::now()));
}

proptest! {
    #[test]
    fn names_are_decoded_as_servers_encode_them(name in ".{0,12}", plus_for_space in any::<bool>()) {
        let mut encoded = String::new();
        for byte in name.bytes() {
            match byte {
                b' ' if plus_for_space => encoded.push('+'),
                b'a'..=b'z' | b'/' | b'.' => encoded.push(char::from(byte)),
                _ => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        prop_assert_eq!(decode(&encoded), name);
    }
}
