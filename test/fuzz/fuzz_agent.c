// SPDX-License-Identifier: Apache-2.0
// Fuzzes the answers of an ssh-agent: its list of keys, and its signature.
#include "submit/keys/agent.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct agent_keys keys;
    unsigned char signature[64];
    if (agent_read_keys(bytes, count, &keys) < 0) BUG_IF(keys.count != 0 || error_text()[0] == 0);
    BUG_IF(keys.count < 0 || keys.count > AGENT_KEYS);
    for (int i = 0; i < keys.count; i++)
        for (const char *c = keys.key[i].comment; *c != 0; c++) BUG_IF(*c < 0x20 || *c > 0x7e);
    if (agent_read_signature(bytes, count, signature) == 0) BUG_IF(count < 65);
    return 0;
}
