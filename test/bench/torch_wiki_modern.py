# SPDX-License-Identifier: Apache-2.0
# The whole recipe wiki-modern in PyTorch, in forms that are fast there: bf16 autocast and residuals, scaled_dot_product_attention,
# queries, keys and values by one product, Newton-Schulz on batches of equal shapes, a fused AdamW. Samples of the training are
# DAWN's of that seed in an order of their own, made before the clock; the scored set is the contest's, and its digest is checked.
# Prints the scores at every half epoch with the seconds of training and of everything. See docs/language.md.
#
#   torch_wiki_modern.py FOLDER-OF-WIKI-SAMPLE [--seed 1] [--threads 2] [--precision bf16] [--compile] [--pieces FILE] [--steps N]
#
# --pieces: a file for the learned pieces, which is written if it is missing. --steps: leaves the schedule early.
import argparse
import math
import pathlib
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from tokenizers import BertWordPieceTokenizer

import scored_set
import torch_bert
from torch_gpt import norm

LAYERS, WIDTH, HEADS, INNER, BASE, EPS = 4, 256, 4, 1024, 100, 1e-6
LENGTH, MOST, SHARE, BATCH, EPOCHS, WARMUP, NEXT = 128, 51, 0.4, 32, 3, 0.2, 0.1
SCORED_BATCH = 50
SCORED = "6716c1a9f2a87c1ed29bf562d536d5322e5cadec760727b07fef680abe4d84a6"


# ---- samples

def learned(folder, path):
    train = [a for k in range(3) for a in scored_set.articles(f"{folder}/wiki_0{k}")]
    if path and path.exists():
        pieces = path.read_text(encoding="utf-8").split("\n")[:-1]
        encoder = BertWordPieceTokenizer(vocab={p: i for i, p in enumerate(pieces)}, lowercase=True)
    else:
        pieces, encoder = scored_set.pieces_of(train)
        if path: path.write_text("".join(p + "\n" for p in pieces), encoding="utf-8")
    test = scored_set.articles(f"{folder}/wiki_03")
    return len(pieces), scored_set.encode(encoder, train), scored_set.encode(encoder, test)


# ---- the network

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.linear1, self.linear2 = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        for begin in (self.qkv, self.linear1): nn.init.uniform_(begin.weight, -math.sqrt(0.75 / WIDTH), math.sqrt(0.75 / WIDTH))
        for end in (self.out, self.linear2): nn.init.zeros_(end.weight)

    def forward(self, x, mask, cosine, sine):
        qkv = self.qkv(norm(x)).view(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        a, z = norm(qkv[:, :, :2]).chunk(2, -1)
        qk = torch.cat((a * cosine - z * sine, a * sine + z * cosine), -1)
        q, k, v = (y.transpose(1, 2) for y in (qk[:, :, 0], qk[:, :, 1], qkv[:, :, 2]))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2))
        return x + self.linear2(F.relu(self.linear1(norm(x))).square())


class Bert(nn.Module):
    def __init__(self, symbols, dtype):
        super().__init__()
        e = self.embeddings = nn.Module()
        e.word_embeddings, e.token_type_embeddings = nn.Embedding(symbols, WIDTH), nn.Embedding(2, WIDTH)
        torch_bert.add_heads(self, WIDTH, symbols, EPS)
        for name, w in self.named_parameters():
            if w.dim() == 2: nn.init.normal_(w, 0, 0.02)
            elif name.endswith("bias"): nn.init.zeros_(w)
        self.layers, self.dtype = nn.ModuleList(Layer() for _ in range(LAYERS)), dtype
        half = WIDTH // HEADS // 2
        angle = torch.arange(LENGTH)[:, None] * BASE ** (-torch.arange(half) / half)
        self.cosine, self.sine = (w.to(dtype)[:, None, None] for w in (angle.cos(), angle.sin()))

    def forward(self, tokens, segments, lengths, places):
        x = self.embeddings.word_embeddings(tokens) + self.embeddings.token_type_embeddings(segments)
        x, mask = norm(x).to(self.dtype), (torch.arange(LENGTH) < lengths[:, None])[:, None, None]
        for layer in self.layers: x = layer(x, mask, self.cosine, self.sine)
        words, nexts = torch_bert.answers(self, norm(x), places)
        return words.float(), nexts.float()

    def losses(self, tokens, segments, lengths, places, labels, following):
        words, nexts = self(tokens, segments, lengths, places)
        return F.cross_entropy(words.flatten(0, 1), labels.flatten(), ignore_index=-1) + NEXT * F.cross_entropy(nexts, following)


# ---- updates

class Muon:
    """Of the layers' matrices: squares in one batch, the others, laid wide, in a second one."""
    RATE, MOMENTUM, DECAY, STEPS, TERMS = 0.02, 0.95, 0.1, 5, (3.4445, -4.775, 2.0315)

    def __init__(self, layers, dtype):
        self.squares = [w for l in layers for w in (l.qkv.weight, l.out.weight)]
        self.others, self.dtype = [w for l in layers for w in (l.linear1.weight, l.linear2.weight)], dtype
        self.all = self.squares + self.others
        self.moments = [torch.zeros_like(w) for w in self.all]

    def orthogonal(self, x):
        a, b, c = self.TERMS
        x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(self.dtype)
        for _ in range(self.STEPS):
            y = torch.bmm(x, x.mT)
            x = torch.baddbmm(x, torch.baddbmm(y, y, y, beta=b, alpha=c), x, beta=a)
        return x.float()

    @torch.no_grad()
    def step(self, factor):
        grads = [w.grad for w in self.all]
        torch._foreach_mul_(self.moments, self.MOMENTUM)
        torch._foreach_add_(self.moments, grads)
        update = torch._foreach_add(grads, self.moments, alpha=self.MOMENTUM)
        count = len(self.squares)
        squares = self.orthogonal(torch.cat([u.reshape(-1, WIDTH, WIDTH) for u in update[:count]]))
        wide = self.orthogonal(torch.stack([u if u.shape[0] < u.shape[1] else u.mT for u in update[count:]]))
        squares = squares.split([len(w) // WIDTH for w in self.squares])
        update = [u.reshape(w.shape) for u, w in zip(squares, self.squares)]
        update += [u if u.shape == w.shape else u.mT for u, w in zip(wide, self.others)]
        torch._foreach_mul_(self.all, 1 - self.RATE * factor * self.DECAY)
        torch._foreach_add_(self.all, update, alpha=-self.RATE * factor)


def factor_at(step, warmup, steps):
    """The rates rise to 1 during the warm-up and fall to 0 at the end."""
    return (1 + step) / (1 + warmup) if step < warmup else 1 - (step - warmup) / (steps - warmup)


@torch.no_grad()
def evaluate(forward, samples, cast):
    hits = tries = right = 0
    loss = 0.0
    for at in range(0, len(samples[0]), SCORED_BATCH):
        *x, labels, following = (part[at:at + SCORED_BATCH] for part in samples)
        with cast(): words, nexts = forward(*x)
        words, labels = words.flatten(0, 1), labels.flatten()
        loss += F.cross_entropy(words, labels, ignore_index=-1, reduction="sum").item()
        hits, tries = hits + (words.argmax(1) == labels).sum().item(), tries + (labels >= 0).sum().item()
        right += (nexts.argmax(1) == following).sum().item()
    return f"masked {hits / tries:.4f}, loss {loss / tries:.3f}, next {right / len(samples[0]):.3f}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--precision", choices=("bf16", "f32"), default="bf16")
    p.add_argument("--compile", action="store_true")
    p.add_argument("--pieces", type=pathlib.Path)
    p.add_argument("--steps", type=int, default=1 << 30)
    o = p.parse_args()
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    dtype = torch.bfloat16 if o.precision == "bf16" else torch.float32

    def cast():
        return torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16)

    symbols, train, test = learned(o.folder, o.pieces)
    pairs, masked, digest = scored_set.scored(test, symbols)
    assert digest == SCORED, "this is not the contest's scored set"
    test = torch_bert.batch(pairs, masked, *scored_set.FORM)
    samples = len(scored_set.walk(train, (scored_set.SEED, scored_set.TRAIN, 0), LENGTH))
    epochs = []
    for e in range(EPOCHS):
        made = scored_set.epoch(train, (o.seed, scored_set.TRAIN, e), samples, symbols, LENGTH, MOST, SHARE)
        epochs.append(torch_bert.batch(*made, LENGTH, MOST))
    model = Bert(symbols, dtype)
    forward, losses = (torch.compile(f) if o.compile else f for f in (model.forward, model.losses))
    muon = Muon(model.layers, dtype)
    rest = [w for name, w in model.named_parameters() if not name.startswith("layers.")]
    adamw = torch.optim.AdamW(rest, lr=2e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0, fused=True)
    per_epoch = samples // BATCH
    steps, warmup = EPOCHS * per_epoch, round(WARMUP * per_epoch)
    scores = {per_epoch * k // 2 for k in range(1, 2 * EPOCHS + 1)}
    print(f"{samples} samples per epoch, {steps} steps, {sum(w.numel() for w in model.parameters())} parameters", flush=True)
    with cast(): losses(*(part[:BATCH] for part in epochs[0])).backward()  # first calls prepare kernels: they are not timed
    evaluate(forward, [part[:SCORED_BATCH] for part in test], cast)
    begin, scoring = time.time(), 0.0
    for step in range(min(steps, o.steps)):
        if step % per_epoch == 0: order = torch.randperm(samples)
        at = order[step % per_epoch * BATCH:][:BATCH]
        with cast(): loss = losses(*(part[at] for part in epochs[step // per_epoch]))
        model.zero_grad()
        loss.backward()
        factor = factor_at(step, warmup, steps)
        muon.step(factor)
        adamw.param_groups[0]["lr"] = 2e-3 * factor
        adamw.step()
        if step + 1 in scores or step + 1 == o.steps:
            before = time.time()
            score = evaluate(forward, test, cast)
            now = time.time()
            scoring += now - before
            spent = now - begin - scoring
            print(f"step {step + 1}: {score}; {spent:.1f} s of training, {now - begin:.1f} s in all, "
                  f"{(step + 1) * BATCH * LENGTH / spent:.0f} pieces/s", flush=True)


if __name__ == "__main__":
    main()
