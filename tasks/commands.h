// SPDX-License-Identifier: Apache-2.0
// The commands of tasks/, one file each (cmd_NAME.c). A command takes its own argv (argv[0] is its name), prints its output
// and returns 0 or a negative error with its sentence. dawn.c lists all commands.
#pragma once

struct announce_type;  // submit/announce.h
int cmd_train(int argc, char **argv, const struct announce_type *);  // how runs are announced
int cmd_infer(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_eval_bleu(int argc, char **argv);  // argv[0] is "bleu"
int cmd_eval_wer(int argc, char **argv);
int cmd_eval_coco(int argc, char **argv);  // argv[0] is "coco"
int cmd_eval_frechet(int argc, char **argv);  // argv[0] is "frechet"
int cmd_eval_baselines(int argc, char **argv);  // argv[0] is "baselines"
int cmd_plan(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_models(int argc, char **argv);
int cmd_prices(int argc, char **argv);
int cmd_recipe(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_results(int argc, char **argv);
int cmd_report(int argc, char **argv);
