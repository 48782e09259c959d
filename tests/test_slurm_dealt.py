"""What the log of a recorded run tells: what starts were dealt on each node, times of grace, epilogs."""

from __future__ import annotations

from truth.log import Names, Part, epilogs, graces, starts

LOG = """
[2023-11-14T22:13:34.100] JobId=7 nhosts:1 ncpus:2 node_req:1 nodes=n1
[2023-11-14T22:13:34.100]   Mem(MB):500:0  Sockets:8  Cores:1  CPUs:2:0
[2023-11-14T22:13:35.000] ====================
[2023-11-14T22:13:35.000] JobId=9_4(12) nhosts:2 ncpus:4 node_req:1 nodes=n[3-4]
[2023-11-14T22:13:35.000] Node[0]:
[2023-11-14T22:13:35.000]   Mem(MB):3000:0  Sockets:8  Cores:1  CPUs:3:0
[2023-11-14T22:13:35.000]   Socket[0] Core[0] is allocated
[2023-11-14T22:13:35.000] Node[1]:
[2023-11-14T22:13:35.000]   Mem(MB):1000:0  Sockets:8  Cores:1  CPUs:1:0
[2023-11-14T22:13:35.000] gres_job_state gres:gpu(7696487) type:(null)(0) job:12 flags:
[2023-11-14T22:13:35.000]   gres_cnt_node_alloc[0]:4
[2023-11-14T22:13:35.000] select/cons_tres: select_p_select_nodeinfo_set: Alloc GRES
[2023-11-14T22:13:35.000] gres_job_state gres:gpu(7696487) type:a100(808464737) job:12 flags:
[2023-11-14T22:13:35.000]   node_cnt:2
[2023-11-14T22:13:35.000]   gres_cnt_node_alloc[0]:2
[2023-11-14T22:13:35.000]   gres_cnt_step_alloc[0]:0
[2023-11-14T22:13:35.000]   gres_cnt_node_alloc[1]:1
[2023-11-14T22:13:35.000] gres_job_state gres:gpu(7696487) type:v100(808464758) job:12 flags:
[2023-11-14T22:13:35.000]   gres_cnt_node_alloc[0]:1
[2023-11-14T22:13:35.000] sched: Allocate JobId=9_4(12) NodeList=n[3-4] #CPUs=4 Partition=top
[2023-11-14T22:13:36.000] sched/backfill: _start_job: Started JobId=7 in gpu on n1
[2023-11-15T00:19:03.936] debug:  setting 60 sec preemption grace time for JobId=12 to reclaim \
resources for JobId=7
""".splitlines()

NEWER = """
[2023-11-14T22:15:21.374] _slurm_rpc_submit_batch_job: JobId=7 SLUID=s7JXM7TKD1TP00 InitPrio=1000 usec=925399
[2023-11-14T22:15:21.703] sched/backfill: _attempt_backfill: BACKFILL: test for JobId=9_4(12) Prio=1000 Partition=main
[2023-11-14T22:15:21.705] JobId=9_4(12) nhosts:1 ncpus:2 node_req:1 nodes=n1
[2023-11-14T22:15:21.705] Node[0]:
[2023-11-14T22:15:21.705]   Mem(MB):0:0  Sockets:4  Cores:1  CPUs:2:0
[2023-11-14T22:15:21.706] select/cons_tres: select_p_select_nodeinfo_set: Alloc GRES
[2023-11-14T22:15:21.706] gres_job_state gres:gpu(7696487) type:(null)(0) job:12 flags:
[2023-11-14T22:15:21.706]   gres_cnt_node_alloc[0]:1
[2023-11-14T22:15:21.709] sched/backfill: _start_job: HETJOB: Started JobId=9_4(12) in main on n1
[2023-11-14T22:15:21.709] sched/backfill: _start_job: BACKFILL: Jobs backfilled since boot: 1
[2023-11-14T22:15:22.306] JobId=7 nhosts:1 ncpus:1 node_req:1 nodes=n1
[2023-11-14T22:15:22.306]   Mem(MB):0:0  Sockets:4  Cores:1  CPUs:1:0
[2023-11-14T22:15:22.307] sched: Allocate JobId=7 NodeList=n1 #CPUs=1 Partition=main
[2023-11-14T22:20:33.783] _job_complete: JobId=7 done
[2023-11-14T22:23:23.677] TRACE_JOBS: cleanup_completing: JobId=7
[2023-11-14T22:23:23.677] cleanup_completing: JobId=7 completion process took 170 seconds
""".splitlines()  # noqa: E501
"""As 26.05 writes it."""


def names() -> Names:
    return Names({7: "1", 9: "2"})


def test_a_start_has_on_each_node_what_was_logged_last_before_it() -> None:
    assert list(starts(LOG, names())) == [
        ("2_4", {"n3": Part(3, 3000, {"gpu:a100": 2, "gpu:v100": 1}), "n4": Part(1, 1000, {"gpu:a100": 1})}),
        ("1", {"n1": Part(2, 500)}),
    ]


def test_a_time_of_grace_begins_when_it_is_set() -> None:
    known = names()
    list(starts(LOG, known))
    assert list(graces(LOG, known)) == [(1700007543.936, "2_4", "for 1 60")]


def test_newer_logs_have_further_words() -> None:
    known = names()
    assert list(starts(NEWER, known)) == [("2_4", {"n1": Part(2, 0, {"gpu": 1})}), ("1", {"n1": Part(1, 0)})]
    over = 1700000603.677
    assert list(epilogs(NEWER, known)) == [(over, "1", ""), (over, "1", "170")]
