//! Who may wait. A process of its own: what is said there is for all of it.

use burn_std::runtime_kind::{RuntimeKind, runtime_kind, set_runtime_kind};
use burn_std::try_read_sync;

#[test]
fn where_nothing_may_wait_only_what_is_ready_is_read() {
    assert_eq!(runtime_kind(), RuntimeKind::Sync);
    set_runtime_kind(RuntimeKind::Async);
    assert_eq!(try_read_sync(core::future::ready(3)), Some(3));
    assert_eq!(try_read_sync(core::future::pending::<i32>()), None);
    set_runtime_kind(RuntimeKind::Sync);
    assert_eq!(runtime_kind(), RuntimeKind::Sync);
}
