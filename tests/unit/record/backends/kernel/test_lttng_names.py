"""Events of the kernel with LTTng's names, fields and values: a row for each kind."""

from __future__ import annotations

import struct

import pytest

import vestige
from support.kernel_fixtures import format_text, write_trace
from support.kernel_tracer import page
from vestige.record.backends.kernel.formats import read_format

TEXT = "__data_loc char[]"
SIZES = {
    "char[16]": 16,
    "char[10]": 10,
    "char[]": 0,
    "pid_t": 4,
    "int": 4,
    "unsigned int": 4,
    "dev_t": 4,
    "u32": 4,
    "clockid_t": 4,
    "enum hrtimer_mode": 4,
    "u16": 2,
    "bool": 1,
    TEXT: 4,
}
"""Bytes of types; others have 8."""
SIGNED = {"pid_t", "int", "long", "s64", "clockid_t"}
THREAD = 77

ROWS = [
    (
        "sched:sched_switch",
        (
            "prev_comm:char[16]=a prev_pid:pid_t=5 prev_prio:int=120 prev_state:long=256 "
            "next_comm:char[16]=b next_pid:pid_t=6 next_prio:int=99"
        ),
        "sched_switch",
        (
            "prev_comm=a prev_tid=5 prev_prio=20 prev_state=256 "
            "next_comm=b next_tid=6 next_prio=-1"
        ),
    ),
    *(
        (
            f"sched:{name}",
            "comm:char[16]=a pid:pid_t=5 prio:int=120 target_cpu:int=1",
            name,
            "comm=a tid=5 prio=20 target_cpu=1",
        )
        for name in ("sched_waking", "sched_wakeup", "sched_wakeup_new")
    ),
    (
        "sched:sched_migrate_task",
        f"comm:{TEXT}=a pid:pid_t=5 prio:int=0 orig_cpu:int=0 dest_cpu:int=1",
        "sched_migrate_task",
        "comm=a tid=5 prio=-100 orig_cpu=0 dest_cpu=1",
    ),
    (
        "sched:sched_process_fork",
        (
            f"parent_comm:{TEXT}=a parent_pid:pid_t=5 "
            f"child_comm:{TEXT}=b child_pid:pid_t=6"
        ),
        "sched_process_fork",
        # Nobody has told their processes.
        (
            "parent_comm=a parent_tid=5 child_comm=b child_tid=6 "
            "parent_pid=-1 child_pid=-1"
        ),
    ),
    (
        "sched:sched_process_exec",
        f"filename:{TEXT}=/bin/a pid:pid_t=5 old_pid:pid_t=6",
        "sched_process_exec",
        "filename=/bin/a tid=5 old_tid=6",
    ),
    *(
        (
            f"sched:{name}",
            f"comm:{TEXT}=a pid:pid_t=5 prio:int=120",
            name,
            "comm=a tid=5 prio=20",
        )
        for name in ("sched_process_free", "sched_process_wait", "sched_process_exit")
    ),
    (
        "sched:sched_pi_setprio",
        f"comm:{TEXT}=a pid:pid_t=5 oldprio:int=120 newprio:int=98",
        "sched_pi_setprio",
        "comm=a tid=5 oldprio=20 newprio=-2",
    ),
    (
        "sched:sched_stat_runtime",
        f"comm:{TEXT}=a pid:pid_t=5 runtime:u64=9",
        "sched_stat_runtime",
        "comm=a tid=5 runtime=9",
    ),
    (
        "sched:sched_kthread_stop",
        f"comm:{TEXT}=a pid:pid_t=5",
        "sched_kthread_stop",
        "comm=a tid=5",
    ),
    (
        "irq:irq_handler_entry",
        f"irq:int=4 name:{TEXT}=eth0",
        "irq_handler_entry",
        "irq=4 name=eth0",
    ),
    ("irq:irq_handler_exit", "irq:int=4 ret:int=1", "irq_handler_exit", "irq=4 ret=1"),
    *(
        (f"irq:{name}", "vec:unsigned_int=3", f"irq_{name}", "vec=3")
        for name in ("softirq_entry", "softirq_exit", "softirq_raise")
    ),
    *(
        (
            f"block:{name}",
            (
                "dev:dev_t=7 sector:sector_t=8 nr_sector:unsigned_int=2 "
                "bytes:unsigned_int=1024 ioprio:u16=4 rwbs:char[10]=FWFSM "
                f"comm:char[16]=a cmd:{TEXT}="
            ),
            name,
            (
                f"dev=7 sector=8 nr_sector=2 bytes=1024 rwbs={1024 | 1 | 512 | 32 | 64} "
                f"comm=a tid={THREAD}"
            ),
        )
        for name in ("block_rq_issue", "block_rq_insert", "block_rq_merge")
    ),
    *(
        (
            f"block:{name}",
            (
                "dev:dev_t=7 sector:sector_t=8 nr_sector:unsigned_int=2 error:int=0 "
                f"ioprio:u16=4 rwbs:char[10]=RA cmd:{TEXT}="
            ),
            name,
            "dev=7 sector=8 nr_sector=2 error=0 rwbs=12",
        )
        for name in ("block_rq_complete", "block_rq_requeue")
    ),
    *(
        (
            f"block:{name}",
            (
                "dev:dev_t=7 sector:sector_t=8 nr_sector:unsigned_int=2 "
                "rwbs:char[10]=DE comm:char[16]=a"
            ),
            name,
            f"dev=7 sector=8 nr_sector=2 rwbs=130 comm=a tid={THREAD}",
        )
        for name in (
            *("block_bio_backmerge", "block_bio_frontmerge", "block_bio_queue"),
            "block_getrq",
        )
    ),
    (
        "block:block_bio_remap",
        (
            "dev:dev_t=7 sector:sector_t=8 nr_sector:unsigned_int=2 old_dev:dev_t=1 "
            "old_sector:sector_t=9 rwbs:char[10]=W"
        ),
        "block_bio_remap",
        "dev=7 sector=8 nr_sector=2 old_dev=1 old_sector=9 rwbs=1",
    ),
    (
        "block:block_unplug",
        "nr_rq:int=2 comm:char[16]=a",
        "block_unplug",
        f"nr_rq=2 comm=a tid={THREAD}",
    ),
    (
        "kmem:mm_page_alloc",
        (
            "pfn:unsigned_long=5 order:unsigned_int=0 gfp_flags:unsigned_long=3264 "
            "migratetype:int=1"
        ),
        "kmem_mm_page_alloc",
        "pfn=5 order=0 gfp_flags=3264 migratetype=1",
    ),
    (
        "kmem:kmalloc",
        (
            "call_site:unsigned_long=4096 ptr:const_void_*=8192 bytes_req:size_t=5 "
            "bytes_alloc:size_t=8 gfp_flags:unsigned_long=3264 node:int=-1"
        ),
        "kmem_kmalloc",
        "call_site=4096 ptr=8192 bytes_req=5 bytes_alloc=8 gfp_flags=3264 node=-1",
    ),
    (
        "kmem:kfree",
        "call_site:unsigned_long=4096 ptr:const_void_*=8192",
        "kmem_kfree",
        "call_site=4096 ptr=8192",
    ),
    (
        "vmscan:mm_vmscan_wakeup_kswapd",
        "nid:int=0 zid:int=1 order:int=2 gfp_flags:unsigned_long=3264",
        "mm_vmscan_wakeup_kswapd",
        "nid=0 zid=1 order=2 gfp_flags=3264",
    ),
    ("writeback:writeback_pages_written", "pages:long=3", None, "pages=3"),
    *(
        (
            f"net:{name}",
            f"skbaddr:void_*=4096 len:unsigned_int=66 name:{TEXT}=lo",
            lttng,
            "skbaddr=4096 len=66 name=lo",
        )
        for name, lttng in {
            "net_dev_queue": "net_dev_queue",
            "netif_receive_skb": "net_if_receive_skb",
            "netif_rx": "net_if_rx",
        }.items()
    ),
    (
        "net:net_dev_xmit",
        f"skbaddr:void_*=4096 len:unsigned_int=66 rc:int=0 name:{TEXT}=lo",
        "net_dev_xmit",
        "skbaddr=4096 len=66 rc=0 name=lo",
    ),
    *(
        (
            f"timer:{name}",
            "hrtimer:void_*=4096 clockid:clockid_t=1 mode:enum_hrtimer_mode=1",
            "timer_hrtimer_init",
            "hrtimer=4096 clockid=1 mode=1",
        )
        for name in ("hrtimer_setup", "hrtimer_init")
    ),
    *(
        (f"timer:{name}", "hrtimer:void_*=4096", f"timer_{name}", "hrtimer=4096")
        for name in ("hrtimer_cancel", "hrtimer_expire_exit")
    ),
    (
        "timer:hrtimer_expire_entry",
        "hrtimer:void_*=4096 now:s64=-5 function:void_*=8192",
        "timer_hrtimer_expire_entry",
        "hrtimer=4096 now=-5 function=8192",
    ),
    *(
        (
            f"power:{name}",
            "state:u32=1 cpu_id:u32=0",
            f"power_{name}",
            "state=1 cpu_id=0",
        )
        for name in ("cpu_idle", "cpu_frequency")
    ),
    (
        "signal:signal_generate",
        (
            "sig:int=9 errno:int=0 code:int=0 comm:char[16]=a pid:pid_t=5 group:int=1 "
            "result:int=0"
        ),
        "signal_generate",
        "sig=9 errno=0 code=0 comm=a pid=5 group=1 result=0",
    ),
    (
        "workqueue:workqueue_execute_start",
        "work:void_*=4096 function:void_*=8192",
        "workqueue_execute_start",
        "work=4096 function=8192",
    ),
    *(
        (
            f"exceptions:page_fault_{whose}",
            "address:unsigned_long=4096 ip:unsigned_long=8192 error_code:unsigned_long=4",
            f"x86_exceptions_page_fault_{whose}",
            "address=4096 ip=8192 error_code=4",
        )
        for whose in ("user", "kernel")
    ),
    *(
        (
            f"irq_vectors:{name}_{end}",
            "vector:int=236",
            f"x86_irq_vectors_{lttng}_{end}",
            "vector=236",
        )
        for name, lttng in {
            **{
                one: one
                for one in (
                    *("local_timer", "reschedule", "spurious_apic", "error_apic"),
                    *("irq_work", "call_function", "call_function_single"),
                    *("threshold_apic", "deferred_error_apic", "thermal_apic"),
                )
            },
            "x86_platform_ipi": "ipi",
        }.items()
        for end in ("entry", "exit")
    ),
    ("printk:console", f"msg:{TEXT}=hello", "printk_console", "msg=hello"),
    (
        "syscalls:sys_exit_read",
        "__syscall_nr:int=0 ret:long=-4",
        "syscall_exit_read",
        "ret=-4",
    ),
    (
        "ftrace:print",
        "ip:unsigned_long=4096 buf:char[]=hello",
        "lttng_logger",
        "msg=hello",
    ),
]


def split(fields):
    """Return the words of fields with texts in their types put together again."""
    return fields.replace(TEXT, TEXT.replace(" ", "~")).split()


def record_of(fields):
    """Return the declarations of fields, and a record with their values."""
    declared, body, texts = [], bytearray(struct.pack("<HBBi", 7, 0, 0, THREAD)), []
    for word in split(fields):
        name, _, rest = word.partition(":")
        c_type, _, value = rest.replace("~", " ").partition("=")
        if not c_type.endswith("_t") and c_type != TEXT:
            c_type = c_type.replace("_", " ").replace(
                "enum hrtimer mode", "enum hrtimer_mode"
            )
        size = SIZES.get(c_type, 8)
        body.extend(bytes(-len(body) % (size if size in {2, 4, 8} else 1)))
        plain, bracket, array = (
            c_type.partition("[") if c_type != TEXT else (c_type, "", "")
        )
        declared.append(
            (f"{plain} {name}{bracket}{array}", len(body), size, int(c_type in SIGNED))
        )
        if c_type == TEXT:
            texts.append((len(body), value.encode() + b"\0"))
            body += bytes(4)
        elif plain == "char":
            body += (
                value.encode().ljust(size, b"\0") if size else value.encode() + b"\n\0"
            )
        else:
            body += int(value).to_bytes(size, "little", signed=c_type in SIGNED)
    for at, text in texts:
        struct.pack_into("<I", body, at, len(body) | len(text) << 16)
        body += text
    return declared, bytes(body + bytes(-len(body) % 4))


@pytest.mark.parametrize(
    ("event", "given", "name", "expected"), ROWS, ids=[row[0] for row in ROWS]
)
def test_an_event_is_lttngs(tmp_path, event, given, name, expected):
    """Its name, its fields in their order, and their values."""
    system, _, kernel_name = event.partition(":")
    fields, record = record_of(given)
    made = read_format(system, kernel_name, format_text(7, *fields))
    write_trace(tmp_path, [made], [page(2000, [(1, record)])])
    [found] = vestige.open(tmp_path)

    assert found.name == (name or kernel_name)
    assert [
        f"{key}={value}" for key, value in found.payload.items()
    ] == expected.split()
    assert found.context["tid"] == THREAD
