// SPDX-License-Identifier: Apache-2.0
// The table of commands. No other file includes all of them.
#include "data/cmd_data.h"
#include "runtime/common/cli/program.h"
#include "submit/submit_commands.h"
#include "tasks/commands.h"
#include "tasks/tools/candidates.h"

#include <stddef.h>

// The training knows no network. This gives it the functions that announce a run to a scoreboard.
static int train(int argc, char **argv)
{
    return cmd_train(argc, argv, &announcer_type);
}

static const struct program_command commands[] = {
    {"train", train, "train a model until it meets its target, and record the run"},
    {"record", cmd_record, "run any training program, time it, and record the run"},
    {"infer", cmd_infer, "measure the latency and the accuracy of a trained model"},
    {"eval", cmd_eval, "score predictions as the published evaluation of a task does"},
    {"data", cmd_data, "fetch, import, check and show data sets"},
    {"results", cmd_results, "list, show, compare and export recorded runs"},
    {"report", cmd_report, "make a page of the record"},
    {"keys", cmd_keys, "make, list, rotate and revoke signing keys"},
    {"submit", cmd_submit, "sign recorded runs and submit them to a scoreboard"},
    {"verify", cmd_verify, "check a signed run: signature, hash chain, figures, receipt"},
    {"replay", cmd_replay, "train a recorded run once more and compare the figures"},
    {"withdraw", cmd_withdraw, "remove one of your entries from the boards"},
    {"amend", cmd_amend, "change the descriptive texts of one of your entries"},
    {"object", cmd_object, "object to a run of another person"},
    {"models", cmd_models, "list the models of a task"},
    {"prices", cmd_prices, "list the machines whose price is known"},
    {"recipe", cmd_recipe, "print a recipe: all settings of a training"},
    {"plan", cmd_plan, "show what a training will cost before it runs"},
    {"bench", cmd_bench, "measure training steps or single operators"},
    {"profile", cmd_profile, "show where the time and the memory of a step go"},
    {"doctor", cmd_doctor, "show what this machine and this build can do"},
    {NULL, NULL, NULL},
};

static const struct program_group groups[] = {
    {"data", cmd_data_subs},
    {"keys", cmd_keys_subs},
    {NULL, NULL},
};

static const struct program_variable variables[] = {
    {"DAWN_RESULTS", "the record, instead of results.db"},
    {"DAWN_DATA", "the folder of the data sets, before $XDG_DATA_HOME/dawn and ~/.local/share/dawn"},
    {"DAWN_SERVER", "the scoreboard"},
    {"DAWN_HANDLE", "your name on the boards"},
    {"DAWN_KEY", "the key that signs"},
    {"DAWN_SEED", "given by \"dawn record\" to its command: the seed of the run"},
    {"DAWN_ISA", "limits the instruction set of DAWN's own loops: base, avx2 or avx512"},
    {"XDG_CONFIG_HOME", "keys are stored in its folder dawn/keys, else in ~/.config/dawn/keys"},
    {"SSL_CERT_FILE", "a file of certificates to trust, as with curl"},
    {"NO_COLOR", "if it is not empty, headings are not bold"},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    const struct program dawn = {
        .name = "dawn",
        .usage = "COMMAND [OPTIONS]",
        .about = "DAWN measures how long a machine takes to train a network to a target accuracy.",
        .first = "A first run, with nothing to fetch:\n  dawn train cifar10 --data synthetic",
        .commands = commands,
        .groups = groups,
        .variables = variables,
        .words = candidates,
    };
    return program_main(&dawn, argc, argv);
}
