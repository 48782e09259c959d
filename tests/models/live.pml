/* The protocol of agent and servers: two tasks, two servers, messages that are lost or late, and one crash of the
 * agent and of each batch system, which loses what it has not saved.
 *
 *     spin -search -DTASKS=1 -DLOSSES=1 -O2 -DSAFETY -DCOLLAPSE tests/models/live.pml
 *
 * An attempt is one submission of a task to a server; its states are those of the journal, and STEP is the only
 * way from one to another. What the journal says is on disk before anything is asked, so that a crash of the
 * agent is: to begin anew with the journal.
 */
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef TASKS
#define TASKS 2
#endif
#define OTHER(a) (a ^ 1)
#define TASK(a) (a >> 1)
#define SERVER(a) (a & 1)

mtype = { none, submitting, held, releasing, released, cancelling, gone, over };   /* attempts in the journal */
mtype = { absent, holds, waits, started };                                       /* jobs of a batch system */
mtype = { unborn, running, ended, killed };                                      /* what a task did */
mtype = { no_message, submit, release, cancel };

mtype attempt[4] = none;
mtype job[4] = absent, saved[4] = absent, late[4] = no_message;
mtype did[2] = unborn;
byte fence[2];           /* 0: free; 1, 2: taken on that server; 3: by the agent */
bool wanted[2];          /* the client wants it back */
bool done[2], cancelled[2];
byte losses, refusals, agent_crashes, crashes[2];

#define OUT(a) (attempt[a] == releasing || attempt[a] == released || attempt[a] == cancelling)
#define LIVE(a) (attempt[a] != none && attempt[a] != gone && attempt[a] != over)
#define OVER(t) (done[t] || cancelled[t])
#define ALL_OVER (OVER(0) && (OVER(1) || TASKS == 1))
#define HERE(a) (fence[TASK(a)] == SERVER(a) + 1)
#define STEP(a, before, after) d_step { assert(attempt[a] == before); attempt[a] = after; \
    assert(!(attempt[a] == released && attempt[OTHER(a)] == released) || fence[TASK(a)] != 0) }
/* The act may be refused, by its switch or by the batch system: then it stays what it was. */
#define TAKE_BACK(a, was) STEP(a, was, cancelling); \
    if :: refusals < 1 -> refusals++; STEP(a, cancelling, was) :: true fi
#define FORGET d_step { a = 0; b = 0; heard = absent; was = none; yes = false; answered = false }
#define MAY_CRASH if :: agent_crashes < 1 -> agent_crashes++; goto again :: true fi

/* What a server does when it is asked; yes is its answer. */
#define DO_SUBMIT(a) d_step { if :: job[a] == absent -> job[a] = holds :: else fi; yes = true }
#define DO_RELEASE(a) d_step { if :: job[a] == holds -> job[a] = waits :: else fi; yes = true }
#define DO_CANCEL(a) d_step { if \
    :: HERE(a) -> yes = false \
    :: !HERE(a) -> if :: job[a] != started -> job[a] = absent :: else fi; yes = true fi }
#define DO_KILL(a) d_step { if \
    :: HERE(a) && did[TASK(a)] == running && job[a] == started -> did[TASK(a)] = killed; job[a] = absent; yes = true \
    :: HERE(a) && did[TASK(a)] == killed -> yes = true \
    :: HERE(a) && (did[TASK(a)] == ended || (did[TASK(a)] == running && job[a] != started)) -> yes = false \
    :: !HERE(a) -> if :: job[a] != started -> job[a] = absent :: else fi; yes = true fi }
#define DO_POLL(a) d_step { if \
    :: HERE(a) && did[TASK(a)] == running -> heard = running \
    :: HERE(a) && did[TASK(a)] == ended -> heard = ended \
    :: HERE(a) && did[TASK(a)] == killed -> heard = killed \
    :: !HERE(a) -> if :: job[a] == started -> heard = absent :: else -> heard = job[a] fi fi }

/* A message: answered; lost; its answer lost; late. */
#define ASK(a, act, message) if \
    :: act; answered = true \
    :: losses < LOSSES -> losses++; answered = false \
    :: losses < LOSSES -> losses++; act; answered = false \
    :: losses < LOSSES && late[a] == no_message && message != no_message -> \
        losses++; late[a] = message; answered = false fi

active proctype agent() {
    byte a, b;
    bool yes, answered;
    mtype heard, was;
again:
    skip;
    FORGET;
    do
    :: ALL_OVER -> break
    :: else ->
        atomic { if :: a = 0 :: a = 1 :: TASKS > 1 -> a = 2 :: TASKS > 1 -> a = 3 fi; b = OTHER(a); heard = absent };
        if
        /* a task that is nowhere, or is to be moved, is handed over */
        :: !OVER(TASK(a)) && !wanted[TASK(a)] && (attempt[a] == none || (attempt[a] == gone && job[a] != holds && job[a] != waits)) &&
                (!LIVE(b) || attempt[b] == released) ->
            d_step { attempt[a] = none;
#ifndef NAMES_AGAIN
                late[a] = no_message   /* another attempt has another name: what comes for the old one finds nothing */
#endif
            };
            STEP(a, none, submitting); MAY_CRASH;
            ASK(a, DO_SUBMIT(a), submit); MAY_CRASH;
            if :: answered -> STEP(a, submitting, held) :: answered -> STEP(a, submitting, gone) :: !answered fi
        /* whether it has arrived */
        :: attempt[a] == submitting ->
            ASK(a, DO_POLL(a), no_message);
            if
            :: answered && heard == absent -> STEP(a, submitting, gone)
            :: answered && heard != absent -> STEP(a, submitting, held)
            :: !answered
            fi
        /* it waits nowhere else: it is let go; else the copy that is held is taken back, or the other one */
        :: attempt[a] == held && !OUT(b) && attempt[b] != held && !wanted[TASK(a)] ->
            STEP(a, held, releasing)
        :: attempt[a] == releasing && !wanted[TASK(a)] ->
            ASK(a, DO_RELEASE(a), release); MAY_CRASH;
            if :: answered -> STEP(a, releasing, released) :: !answered fi
        :: attempt[a] == held && (OUT(b) || attempt[b] == held) && !wanted[TASK(a)] ->
            TAKE_BACK(a, held)
        :: attempt[a] == released && attempt[b] == held && !wanted[TASK(a)] ->
            TAKE_BACK(a, released)
        :: attempt[a] == cancelling ->
            if
            :: wanted[TASK(a)] -> ASK(a, DO_KILL(a), no_message)
            :: else -> ASK(a, DO_CANCEL(a), cancel)
            fi;
            MAY_CRASH;
            if
            :: answered && yes -> STEP(a, cancelling, gone)
            :: answered && !yes -> STEP(a, cancelling, released)
            :: !answered
            fi
        /* the client wants it back */
        :: wanted[TASK(a)] && attempt[a] == held -> TAKE_BACK(a, held)
        :: wanted[TASK(a)] && attempt[a] == releasing -> TAKE_BACK(a, releasing)
        :: wanted[TASK(a)] && attempt[a] == released -> TAKE_BACK(a, released)
        :: wanted[TASK(a)] && !LIVE(a) && !LIVE(b) && !OVER(TASK(a)) ->
#ifndef NO_FENCE
            d_step { if :: fence[TASK(a)] == 0 -> fence[TASK(a)] = 3 :: else fi };
            MAY_CRASH;
#endif
            cancelled[TASK(a)] = true
        /* what became of it */
        :: attempt[a] == held || attempt[a] == releasing || attempt[a] == released ->
            was = attempt[a];
            ASK(a, DO_POLL(a), no_message);
            if
            :: answered && heard == absent -> STEP(a, was, gone)
            :: answered && (heard == ended || heard == killed) ->
                d_step { STEP(a, was, over); assert(did[TASK(a)] == heard); done[TASK(a)] = true }
            :: answered && heard == holds && was == released -> STEP(a, released, releasing)
            :: else
            fi
        /* a job that should not be there */
        :: attempt[a] == gone && (job[a] == holds || job[a] == waits) -> ASK(a, DO_CANCEL(a), cancel)
        :: else
        fi;
        FORGET
    od
}

active proctype client() {
    if :: wanted[0] = true :: true fi
}

/* The batch systems: jobs start and end, states are saved, crashes lose what was not. */
active [2] proctype batch() {
    byte a, me = _pid - 2;
    do
    :: ALL_OVER -> break
    :: atomic { !(ALL_OVER) ->
        if :: a = me :: TASKS > 1 -> a = me + 2 fi;
        if
        :: job[a] == waits ->
            if
            :: fence[TASK(a)] == 0 ->
                assert(did[TASK(a)] == unborn && !cancelled[TASK(a)]);
                fence[TASK(a)] = me + 1; did[TASK(a)] = running
            :: else
            fi;
            job[a] = started
        :: HERE(a) && did[TASK(a)] == running -> did[TASK(a)] = ended
        :: saved[a] != job[a] && crashes[me] < 1 -> saved[a] = job[a]
        :: crashes[me] < 1 -> crashes[me]++; job[me] = saved[me]; job[me + 2] = saved[me + 2]; saved[me] = absent; saved[me + 2] = absent
        :: late[a] == submit -> late[a] = no_message; if :: job[a] == absent -> job[a] = holds :: else fi
        :: late[a] == release -> late[a] = no_message; if :: job[a] == holds -> job[a] = waits :: else fi
        :: late[a] == cancel -> late[a] = no_message; if :: job[a] == holds || job[a] == waits -> job[a] = absent :: else fi
        :: else -> skip
        fi; a = 0 }
    od
}
