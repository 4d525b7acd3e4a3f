/* Trials of a process that is killed, while kernel and device go on. */
#ifndef COMMITPATH_KILL_H
#define COMMITPATH_KILL_H

/* For each trial of a plan: makes the database what it was, does the driver's run in a process that
 * kills itself at the trial's moment, and opens and reads what is left.
 *
 * arguments: kill PLAN OUTPUT FILES SAMPLED run DRIVER-OPTIONS
 *   FILES, SAMPLED: as for a power cut (plan.h)
 *
 * A line of the plan is one of
 *   TRIAL call CALL OFFSET BYTES        once that call of the log of calls (vfs.csv) has returned
 *   TRIAL call CALL OFFSET BYTES KEPT   in it, a write, after so many of its bytes
 *   TRIAL acknowledged TRANSACTION      once that one is acknowledged
 * A run whose call is another is another run, and ends the program. */
int kill_trials(int argc, char **argv);

#endif
