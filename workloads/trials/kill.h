/* Crash trials other than a power cut after the run: the process is killed, while kernel and device
 * continue (kill.c); or a command of the device has a fault during the run, such as a failed write
 * (device_fault.c). */
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

/* Does the driver's run in a process, with a fault of the device from the begin of the timed region
 * on, until the last transaction is acknowledged or the engine fails. Then cuts the power, so that
 * the device loses what it had not made durable, unmounts, mounts again, and opens and reads the
 * database.
 *
 * A transaction that fails is tried once more, as an app may do. If it fails again, or another call
 * of the engine does, the run ends.
 *
 * arguments: fault PLAN OUTPUT DEVICE CONTROL FOLDER TYPE OPTIONS run DRIVER-OPTIONS
 *   CONTROL   folder of the device's files `fault` and `power_cut`; OPTIONS: of mount
 *
 * The plan is one line, TRIAL FAULT, as the device's is left with what the trial made of it. */
int fault_trials(int argc, char **argv);
