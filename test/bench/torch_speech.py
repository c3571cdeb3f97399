# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_speech.c: Deep Speech 2 of PyTorch's own parts, in double, with both strides of time. Prints the loss, logits,
# and of each parameter's gradient g, or of those of a layer, the sum of g[i] cos(i) in DAWN's order of elements.
#
#   torch_speech.py
import re

import torch
import torch.nn.functional as F
from torch import nn

BINS, FRAMES, LETTERS = 21, 13, 29
LENGTHS = [13, 9, 6]
TEXTS = [[5, 5, 2], [7, 1], [9]]


def half(n):
    return (n - 1) // 2 + 1


class ValidNorm(nn.BatchNorm1d):  # of x[B,T,..,C]: frames past an utterance's end do not count and become zeros
    def forward(self, x, mask):
        y = torch.zeros_like(x)
        y[mask] = super().forward(x[mask].flatten(0, -2)).view_as(x[mask])
        return y


def named(**parts):
    m = nn.Module()
    for name, part in parts.items():
        m.add_module(name.lstrip("_"), part)
    return m


class DeepSpeech(nn.Module):
    def __init__(self, channels, width, layers, stride, bins=BINS):
        super().__init__()
        convs = [nn.Conv2d(1, channels, (41, 11), 2, (20, 5)), ValidNorm(channels),
                 nn.Conv2d(channels, channels, (21, 11), (2, stride // 2), (10, 5)), ValidNorm(channels)]
        self.conv = named(seq_module=named(_0=convs[0], _1=convs[1], _3=convs[2], _4=convs[3]))
        self.rnns = nn.ModuleList()
        for i in range(layers):
            of = channels * half(half(bins)) if i == 0 else width
            rnn = named(rnn=nn.GRU(of, width, bidirectional=True, batch_first=True))
            if i > 0:
                rnn.add_module("batch_norm", named(module=ValidNorm(width)))
            self.rnns.append(rnn)
        self.fc = nn.ModuleList([named(module=nn.ModuleList([ValidNorm(width), nn.Linear(width, LETTERS, bias=False)]))])

    def forward(self, x, n):  # x[B,T,bins], n[B] -> logits[B,T',29] and their lengths
        x, parts = x.transpose(1, 2)[:, None], self.conv.seq_module._modules
        for conv, norm in (("0", "1"), ("3", "4")):
            x = parts[conv](x)
            n = half(n) if parts[conv].stride[1] == 2 else n
            mask = torch.arange(x.shape[3]) < n[:, None]
            x = parts[norm](x.permute(0, 3, 2, 1), mask).clamp(0, 20).permute(0, 3, 2, 1)
        x = x.permute(0, 3, 1, 2).flatten(2)
        for i, layer in enumerate(self.rnns):
            if i > 0:
                x = layer.batch_norm.module(x, mask)
            packed = nn.utils.rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False)
            x, _ = nn.utils.rnn.pad_packed_sequence(layer.rnn(packed)[0], batch_first=True, total_length=mask.shape[1])
            x = x.unflatten(2, (2, -1)).sum(2)
        norm, linear = self.fc[0].module
        return linear(norm(x, mask)), n


def ours(g):  # filters are [K,bins,frames,C]
    return (g.permute(0, 2, 3, 1) if g.dim() == 4 else g).flatten()


def put_waves(model):
    for name, p in model.named_parameters():
        weight = "weight" in name
        norm = weight and ("batch_norm" in name or "fc.0.module.0" in name)
        amplitude, k = 0.5 if norm else 0.4 if weight else 0.3, torch.arange(1, p.numel() + 1).double()
        wave = (norm + amplitude * torch.sin(0.37 * k * k + sum(name.encode()))).float().double()
        with torch.no_grad():
            if p.dim() == 4:
                a, b, c, d = p.shape
                p.copy_(wave.view(a, c, d, b).permute(0, 3, 1, 2))
            else:
                p.copy_(wave.view_as(p))


def golden(stride):
    model = DeepSpeech(2, 3, 2, stride).double()
    put_waves(model)
    n = torch.tensor(LENGTHS)
    b, t, f = (torch.arange(k).double() for k in (len(LENGTHS), FRAMES, BINS))
    x = torch.sin(0.9 * (b[:, None, None] + 1) * (t[:, None] + 1) + 0.35 * (f + 1) ** 2).float().double()
    x = x * (torch.arange(FRAMES) < n[:, None])[..., None]
    logits, n = model(x, n)
    text, count = torch.tensor(sum(TEXTS, [])), torch.tensor([len(x) for x in TEXTS])
    loss = F.ctc_loss(logits.log_softmax(2).transpose(0, 1), text, n, count, reduction="sum")
    loss.backward()
    print(f"stride {stride}: loss {loss.item():.8f}")
    print("logits", ", ".join("%.8f" % logits[i, 1, 7 * i + 3].item() for i in range(3)))
    sums = {}
    for name, p in model.named_parameters():
        key = re.match(r"(rnns\.\d\.rnn\.|.*)", name)[0]
        g = ours(p.grad)
        sums[key] = sums.get(key, 0) + (g * torch.cos(torch.arange(g.numel()).double())).sum().item()
    for name, value in sums.items():
        print('    {"%s", %.8f},' % (name, value))


if __name__ == "__main__":
    golden(4)
    golden(2)
