//! Identifiers, streams, waiting, containers and error messages.

use std::collections::HashSet;
use std::thread;

use burn_std::container::TensorContainer;
use burn_std::id::{IdGenerator, ParamId};
use burn_std::reader::try_read_sync;
use burn_std::{DType, DeviceError, ExecutionError, PadMode};
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_text_of_a_parameter_id_reads_back(value: u64) {
        let id = ParamId::from(value);
        prop_assert_eq!(id.to_string().parse::<ParamId>().unwrap(), id);
        let text = serde_json::to_string(&id).unwrap();
        prop_assert_eq!(serde_json::from_str::<ParamId>(&text).unwrap(), id);
    }

    #[test]
    fn other_text_is_no_parameter_id(text in "[0-9a-z]{0,15}") {
        if let Ok(id) = text.parse::<ParamId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}

#[test]
fn the_text_of_a_parameter_id_is_base_32_of_its_bytes() {
    // 35 = 0b0010_0011: digits 00100 = 4 and 01100 = c, then zeros.
    assert_eq!(ParamId::from(35).to_string(), "4c00000000000");
    assert_eq!(ParamId::from(u64::MAX).to_string(), "vvvvvvvvvvvvu");
    let error = "zz".parse::<ParamId>().unwrap_err();
    assert_eq!(error, "\"zz\" is not the text of a parameter id");
    assert!(
        "vvvvvvvvvvvvv".parse::<ParamId>().is_err(),
        "its last bit is no part of the number"
    );
}

#[test]
fn identifiers_are_unique_across_threads() {
    let generate = || {
        (0..1000)
            .map(|_| IdGenerator::generate())
            .collect::<Vec<_>>()
    };
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(generate)).collect();
    let ids: HashSet<_> = threads
        .into_iter()
        .flat_map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(ids.len(), 4000);
}

#[cfg(feature = "std")]
#[test]
fn every_thread_has_its_stream() {
    let here = burn_std::id::StreamId::current();
    assert_eq!(here, burn_std::id::StreamId::current());
    assert_ne!(
        here,
        thread::spawn(burn_std::id::StreamId::current)
            .join()
            .unwrap()
    );
}

#[cfg(feature = "std")]
#[test]
fn reading_waits_until_another_thread_wakes_it() {
    let mut started = false;
    let output = burn_std::reader::read_sync(std::future::poll_fn(move |context| {
        if started {
            return std::task::Poll::Ready(5);
        }
        started = true;
        let waker = context.waker().clone();
        thread::spawn(move || {
            thread::yield_now();
            waker.wake();
        });
        std::task::Poll::Pending
    }));
    assert_eq!(output, 5);
}

#[test]
fn a_ready_future_is_read_at_once() {
    assert_eq!(try_read_sync(std::future::ready(5)), Some(5));
}

#[test]
fn a_container_holds_values_of_several_types() {
    let mut container = TensorContainer::new();
    container.register("a", 1u8);
    container.register("b", String::from("two"));
    assert_eq!(container.get::<u8>(&"a"), Some(1));
    assert_eq!(container.get::<String>(&"a"), None);
    container.get_mut_ref::<String>(&"b").unwrap().push('!');
    assert_eq!(container.remove::<u8>(&"b"), None, "another type stays");
    assert_eq!(container.remove::<String>(&"b").as_deref(), Some("two!"));
    assert_eq!(
        (container.ids(), container.len(), container.is_empty()),
        (vec![&"a"], 1, false)
    );
}

#[test]
fn errors_say_what_happened() {
    let poisoned = ExecutionError::device_poisoned("out of memory");
    assert!(poisoned.is_device_poisoned());
    assert_eq!(
        poisoned.to_string(),
        "the device is unusable after an earlier failure: out of memory"
    );
    assert_eq!(
        ExecutionError::generic("lost").to_string(),
        "execution failed: lost"
    );
    assert_eq!(ExecutionError::with_context("lost").reason(), "lost");
    let unsupported = DeviceError::unsupported_dtype("cpu", DType::F16);
    assert_eq!(
        unsupported.to_string(),
        "device \"cpu\" does not support f16"
    );
}

#[test]
fn padding_is_a_constant_zero_unless_said_otherwise() {
    assert_eq!(PadMode::default(), PadMode::Constant(0.0));
    assert_eq!(PadMode::from(2), PadMode::Constant(2.0));
}
