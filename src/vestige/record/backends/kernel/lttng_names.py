"""What LTTng calls the events of the kernel and their fields, as data.

Names and values are those of LTTng 2.13, whose modules describe them for the same
tracepoints. What is not here has the same name in both; for system calls see
:mod:`.system_calls`.
"""

from __future__ import annotations

__all__ = [
    "CHANGES",
    "COMMON_CHANGES",
    "FIRST_PRIORITY",
    "MORE_FIELDS",
    "lttng_name",
]

FIRST_PRIORITY = 100
"""The kernel's number of the priority that LTTng calls 0 (``MAX_RT_PRIO``)."""

_WITH_PREFIX = {
    "irq": "softirq_entry softirq_exit softirq_raise",
    "kmem": "kmalloc kmalloc_node kfree mm_page_free mm_page_free_batched "
    "mm_page_alloc mm_page_alloc_zone_locked mm_page_pcpu_drain mm_page_alloc_extfrag",
    "net": "napi_gro_frags_entry napi_gro_receive_entry napi_gro_frags_exit "
    "napi_gro_receive_exit",
    "power": "cpu_idle cpu_frequency machine_suspend wakeup_source_activate "
    "wakeup_source_deactivate clock_enable clock_disable clock_set_rate",
    "printk": "console",
    "random": "add_device_randomness mix_pool_bytes mix_pool_bytes_nolock "
    "credit_entropy_bits push_to_pool debit_entropy add_input_randomness "
    "add_disk_randomness xfer_secondary_pool get_random_bytes get_random_bytes_arch "
    "extract_entropy extract_entropy_user random_read urandom_read prandom_u32",
    "timer": "hrtimer_init hrtimer_start hrtimer_cancel hrtimer_expire_entry "
    "hrtimer_expire_exit itimer_state itimer_expire",
    "writeback": "wbc_writepage global_dirty_state bdi_dirty_ratelimit "
    "balance_dirty_pages",
    "x86_exceptions": "page_fault_user page_fault_kernel",
    "x86_irq_vectors": " ".join(
        f"{name}_{end}"
        for name in (
            *("local_timer", "reschedule", "spurious_apic", "error_apic", "irq_work"),
            *("call_function", "call_function_single", "threshold_apic"),
            *("deferred_error_apic", "thermal_apic"),
        )
        for end in ("entry", "exit")
    ),
}
"""By what LTTng puts before their names, the events that it does so to."""

_RENAMED = {
    "hrtimer_setup": "timer_hrtimer_init",
    "kfree_skb": "skb_kfree",
    "consume_skb": "skb_consume",
    "mm_compaction_isolate_freepages": "compaction_isolate_freepages",
    "mm_compaction_isolate_migratepages": "compaction_isolate_migratepages",
    "mm_compaction_migratepages": "compaction_migratepages",
    "mm_shrink_slab_end": "mm_vmscan_shrink_slab_end",
    "mm_shrink_slab_start": "mm_vmscan_shrink_slab_start",
    "netif_receive_skb": "net_if_receive_skb",
    "netif_receive_skb_entry": "net_if_receive_skb_entry",
    "netif_receive_skb_exit": "net_if_receive_skb_exit",
    "netif_receive_skb_list_entry": "net_if_receive_skb_list_entry",
    "netif_receive_skb_list_exit": "net_if_receive_skb_list_exit",
    "netif_rx": "net_if_rx",
    "netif_rx_entry": "net_if_rx_entry",
    "netif_rx_exit": "net_if_rx_exit",
    "netif_rx_ni_entry": "net_if_rx_ni_entry",
    "netif_rx_ni_exit": "net_if_rx_ni_exit",
    "print": "lttng_logger",
    "x86_platform_ipi_entry": "x86_irq_vectors_ipi_entry",
    "x86_platform_ipi_exit": "x86_irq_vectors_ipi_exit",
}
"""Other names."""

_NAMES = {
    **{
        name: f"{prefix}_{name}"
        for prefix, names in _WITH_PREFIX.items()
        for name in names.split()
    },
    **_RENAMED,
}

_PRIORITY = "priority"
_REQUEST = "request_bits"
_BYTE = "byte"
_LINE = "line"
_FOUR_BYTES = "four_bytes"
_ADDRESS = "address"
_THREAD: dict[str, tuple[str | None, str | None]] = {
    "pid": ("tid", None),
    "prio": ("prio", _PRIORITY),
}
_DISK: dict[str, tuple[str | None, str | None]] = {
    "rwbs": ("rwbs", _REQUEST),
    "ioprio": (None, None),
    "cmd": (None, None),
}
_VECTOR: dict[str, tuple[str | None, str | None]] = {"vec": ("vec", _BYTE)}
_FAULT: dict[str, tuple[str | None, str | None]] = {
    "address": ("address", _ADDRESS),
    "error_code": ("error_code", _ADDRESS),
}
_PLACE: dict[str, tuple[str | None, str | None]] = {"offset": ("pos", None)}

CHANGES: dict[str, dict[str, tuple[str | None, str | None]]] = {
    **dict.fromkeys(
        (
            *("sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task"),
            *("sched_process_free", "sched_process_exit", "sched_process_wait"),
            *("sched_wait_task", "sched_stat_runtime", "sched_kthread_stop"),
        ),
        _THREAD,
    ),
    "sched_switch": {
        "prev_pid": ("prev_tid", None),
        "prev_prio": ("prev_prio", _PRIORITY),
        "next_pid": ("next_tid", None),
        "next_prio": ("next_prio", _PRIORITY),
    },
    "sched_process_fork": {
        "parent_pid": ("parent_tid", None),
        "child_pid": ("child_tid", None),
    },
    "sched_process_exec": {"pid": ("tid", None), "old_pid": ("old_tid", None)},
    "sched_pi_setprio": {
        "pid": ("tid", None),
        "oldprio": ("oldprio", _PRIORITY),
        "newprio": ("newprio", _PRIORITY),
    },
    **dict.fromkeys(
        (
            *("block_rq_issue", "block_rq_insert", "block_rq_complete"),
            *("block_rq_merge", "block_rq_requeue", "block_rq_remap"),
            *("block_bio_remap", "block_bio_queue", "block_bio_backmerge"),
            *("block_bio_frontmerge", "block_bio_complete", "block_bio_bounce"),
            *("block_getrq", "block_split"),
        ),
        _DISK,
    ),
    **dict.fromkeys(("softirq_entry", "softirq_exit", "softirq_raise"), _VECTOR),
    **dict.fromkeys(("page_fault_user", "page_fault_kernel"), _FAULT),
    **dict.fromkeys(
        ("ext4_fallocate_enter", "ext4_punch_hole", "ext4_zero_range"), _PLACE
    ),
    "kfree_skb": {"rx_sk": ("rx_skaddr", None)},
    "kvm_mmu_pagetable_walk": {"addr": ("addr", _ADDRESS)},
    "mm_vmscan_lru_isolate": {"highest_zoneidx": ("classzone_idx", None)},
    "mm_vmscan_lru_shrink_inactive": {
        "nr_activate0": ("nr_activate_anon", None),
        "nr_activate1": ("nr_activate_file", None),
    },
    "mm_vmscan_write_folio": {"pfn": ("pfn", _ADDRESS)},
    "print": {"ip": (None, None), "buf": ("msg", _LINE)},
}
"""By the kernel's events and fields, LTTng's name (``None``: it has none) and how its
value differs: ``priority``, ``request_bits``, ``byte`` (the lowest one),
``four_bytes`` (the lowest ones), ``address`` (shown to the base 16), ``line``."""

COMMON_CHANGES: dict[str, tuple[str | None, str | None]] = {
    # As wide as the C type gfp_t.
    "gfp_flags": ("gfp_flags", _FOUR_BYTES)
}
"""The same for fields of any event."""

MORE_FIELDS: dict[str, str] = {
    **dict.fromkeys(
        (
            *("block_rq_issue", "block_rq_insert", "block_rq_merge", "block_getrq"),
            *("block_bio_backmerge", "block_bio_frontmerge", "block_bio_queue"),
            *("block_split", "block_plug", "block_unplug"),
        ),
        "thread",
    ),
    "sched_process_fork": "groups",
}
"""What LTTng has besides: ``thread``, which runs; ``groups``, of parent and child."""


def lttng_name(system: str, name: str) -> str:
    """Return what LTTng calls an event.

    Args:
        system: The kernel's system.
        name: Its name there.
    """
    if system == "syscalls":
        for start, end in (("sys_enter_", "entry"), ("sys_exit_", "exit")):
            if name.startswith(start):
                return f"syscall_{end}_{name.removeprefix(start)}"
    return _NAMES.get(name, name)
