# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_play_network.c: the networks of connect4 and minigo-9 in training as PyTorch computes them, in double.
# Prints the loss (sums of cos(i) logit[i] and of value[i]) and of each parameter's gradient g the sum of g[i] cos(i), in DAWN's
# order of elements.
#
#   torch_play.py [go]
import sys

import torch
import torch.nn.functional as F

COUNT, WIDTH, BLOCKS = 3, 4, 2
ROWS, COLUMNS, PLANES, MOVES, HIDDEN = (9, 9, 13, 82, 64) if "go" in sys.argv else (6, 7, 2, 7, 32)
leaves = {}


def leaf(name, *shape):  # filters are [K,rows,columns,C]
    weight = "weight" in name
    norm = weight and "norm" in name
    amplitude = 0.5 if norm else 0.3
    k = torch.arange(1, torch.Size(shape).numel() + 1).double()
    wave = (norm + amplitude * torch.sin(0.37 * k * k + sum(name.encode()))).float().double()
    leaves[name] = wave.view(shape).requires_grad_()
    return leaves[name]


def conv_norm(name, x, out, side):
    y = F.conv2d(x, leaf(name + ".conv.weight", out, side, side, x.shape[1]).permute(0, 3, 1, 2), None, 1, side // 2)
    return F.batch_norm(y, None, None, leaf(name + ".norm.weight", out), leaf(name + ".norm.bias", out), True, 0.1, 1e-5)


def dense(name, x, out):
    x = x.permute(0, 2, 3, 1).flatten(1) if x.dim() == 4 else x
    return F.linear(x, leaf(name + ".weight", out, x.shape[1]), leaf(name + ".bias", out))


i = torch.arange(COUNT * ROWS * COLUMNS * PLANES)
x = (i * i % 7 < 3).double().view(COUNT, ROWS, COLUMNS, PLANES).permute(0, 3, 1, 2)
x = F.relu(conv_norm("stem", x, WIDTH, 3))
for b in range(BLOCKS):
    x = F.relu(x + conv_norm("block%d.1" % b, F.relu(conv_norm("block%d.0" % b, x, WIDTH, 3)), WIDTH, 3))
logits = dense("policy.dense", F.relu(conv_norm("policy", x, 2, 1)), MOVES)
hidden = F.relu(dense("value.hidden", F.relu(conv_norm("value", x, 1, 1)), HIDDEN))
value = torch.tanh(dense("value.dense", hidden, 1))
loss = (logits.flatten() * torch.cos(torch.arange(COUNT * MOVES).double())).sum() + value.sum()
loss.backward()
print("loss %.8f" % loss.item())
for name, p in leaves.items():
    g = p.grad.flatten()
    print('    {"%s", %.8f},' % (name, (g * torch.cos(torch.arange(g.numel()).double())).sum().item()))
