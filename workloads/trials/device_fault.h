/* Crash trials on a device of which one command has a fault, such as a failed write. */
#pragma once

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
