# SPDX-License-Identifier: Apache-2.0
# The network of connect4 judges leaves in PyTorch, on one thread: the counterpart of bench_games. Inputs and answers are host
# arrays, and norms are folded into the filters. The fastest of the ways below counts, in processor time.
#
#   torch_leaves.py [go] [BATCH]
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(1)
GO = "go" in sys.argv
BATCH = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 64
ROWS, COLUMNS, PLANES, MOVES, HIDDEN, WIDTH, BLOCKS = (9, 9, 13, 82, 64, 64, 9) if GO else (6, 7, 2, 7, 32, 32, 4)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        conv = torch.nn.Conv2d
        self.stem = conv(PLANES, WIDTH, 3, padding=1)
        self.blocks = torch.nn.ModuleList(conv(WIDTH, WIDTH, 3, padding=1) for _ in range(2 * BLOCKS))
        self.policy, self.value = conv(WIDTH, 2, 1), conv(WIDTH, 1, 1)
        self.moves = torch.nn.Linear(2 * ROWS * COLUMNS, MOVES)
        self.hidden, self.result = torch.nn.Linear(ROWS * COLUMNS, HIDDEN), torch.nn.Linear(HIDDEN, 1)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for i in range(0, 2 * BLOCKS, 2):
            x = F.relu(x + self.blocks[i + 1](F.relu(self.blocks[i](x))))
        value = F.relu(self.hidden(F.relu(self.value(x)).flatten(1)))
        return self.moves(F.relu(self.policy(x)).flatten(1)), torch.tanh(self.result(value))


def rate(dtype, layout, frozen):
    boards = torch.randint(0, 2, (BATCH, ROWS, COLUMNS, PLANES), dtype=torch.uint8)
    network = Network().eval().to(dtype).to(memory_format=layout)
    give = lambda: boards.permute(0, 3, 1, 2).to(dtype).contiguous(memory_format=layout)
    with torch.inference_mode():
        if frozen:
            network = torch.jit.optimize_for_inference(torch.jit.trace(network, give()))
        best = 0
        for _ in range(5):
            runs, began = 0, time.process_time()
            while time.process_time() - began < 1:
                policy, value = network(give())
                policy.float().numpy(), value.float().numpy()
                runs += 1
            best = max(best, runs * BATCH / (time.process_time() - began))
    return best


for dtype in torch.float32, torch.bfloat16:
    for layout in torch.contiguous_format, torch.channels_last:
        for frozen in False, True:
            try:
                print("%s, %s, frozen %s: %.0f evaluations/s" % (dtype, layout, frozen, rate(dtype, layout, frozen)), flush=True)
            except RuntimeError as error:
                print("%s, %s, frozen %s: %s" % (dtype, layout, frozen, str(error).splitlines()[0]))
