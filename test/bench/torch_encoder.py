# SPDX-License-Identifier: Apache-2.0
# The training step of test/bench/bench_encoder.c by PyTorch on the CPU, from embeddings to AdamW, with scaled_dot_product_attention.
# Prints the processor time per thread, the least of three steps after one. To run in turn with that program:
#
#   torch_encoder.py [minilm|base [BATCH [TOKENS [bf16|f32 [LAYERS [THREADS [DROPOUT]]]]]]]
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, POSITIONS, STEPS = 30522, 512, 4


class Layer(nn.Module):
    def __init__(self, width, heads, inner, p):
        super().__init__()
        self.heads, self.p = heads, p
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p).transpose(1, 2).reshape(n, t, c)
        x = self.norm1(x + F.dropout(self.out(y), self.p))
        return self.norm2(x + F.dropout(self.down(F.gelu(self.up(x))), self.p))


class Encoder(nn.Module):
    def __init__(self, width, heads, inner, layers, p):
        super().__init__()
        self.p = p
        self.words, self.positions = nn.Embedding(VOCABULARY, width), nn.Embedding(POSITIONS, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, inner, p) for _ in range(layers))
        self.span = nn.Linear(width, 2)

    def forward(self, tokens):
        x = F.dropout(self.norm(self.words(tokens) + self.positions.weight[:tokens.shape[1]]), self.p)
        for layer in self.layers:
            x = layer(x)
        return self.span(x).float()


words = sys.argv[1:] + ["minilm", "32", "256", "bf16", "6", "1", "0.1"][len(sys.argv) - 1:]
batch, tokens, layers, threads = int(words[1]), int(words[2]), int(words[4]), int(words[5])
width, inner = (768, 3072) if words[0] == "base" else (384, 1536)
torch.set_num_threads(threads)
torch.manual_seed(1)
model = Encoder(width, 12, inner, layers, float(words[6])).train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.01)
index = (torch.arange(batch * tokens) * 7919 % VOCABULARY).view(batch, tokens)
starts = torch.zeros(batch, dtype=torch.long)
least = float("inf")
for step in range(STEPS):
    began = time.process_time()
    optimiser.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=words[3] == "bf16"):
        first, last = model(index).unbind(2)
        loss = F.cross_entropy(first, starts) + F.cross_entropy(last, starts)
    loss.backward()
    optimiser.step()
    seconds = (time.process_time() - began) / threads
    least = min(least, seconds if step else least)
print(f"PyTorch {torch.__version__}, {' '.join(words[:5])} layers, {threads} threads, dropout {words[6]}: {least:.3f} s")
