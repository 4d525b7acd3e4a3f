/* Crash trials in which the process is killed, while kernel and device continue. */
#pragma once

/* For each trial of a plan: restores the database, does the driver's run in a process that kills
 * itself at the trial's crash point, and opens and reads what is left.
 *
 * arguments: kill PLAN OUTPUT FILES SAMPLED run DRIVER-OPTIONS
 *   FILES, SAMPLED: as for a power cut (plan.h)
 *
 * A line of the plan is one of
 *   TRIAL call CALL OFFSET BYTES        after that call of the log of calls (vfs.csv) has returned
 *   TRIAL call CALL OFFSET BYTES KEPT   during it, a write, after so many of its bytes
 *   TRIAL acknowledged TRANSACTION      after that transaction is acknowledged
 *   TRIAL begun TRANSACTION             before that transaction begins
 * If a call differs from the log, the run is another one, and the program ends. */
int kill_trials(int argc, char **argv);
