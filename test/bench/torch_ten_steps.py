# SPDX-License-Identifier: Apache-2.0
# Ten steps of a task's recipe in f32, without dropout, on few samples that are one batch, by DAWN and by PyTorch from the same
# weights: the loss before each step, and the weights after the last one.
#
#   torch_ten_steps.py DAWN CASE FOLDER    (writes into the current folder)
#
# CASE and the files in FOLDER: transformer-tiny, the files of multi30k; gpt-char or gpt-modern, the file of shakespeare; wiki-mlm or
# wiki-modern, the files of wiki-sample; bccd, its Annotations, ImageSets and JPEGImages; pennfudan, its PNGImages and PedMasks;
# an4, its etc and wav; wgan-mnist, the files of mnist.
import contextlib
import json
import math
import pathlib
import re
import subprocess
import sys

import numpy
import PIL.Image
import torch
import torch.nn as nn
from safetensors.torch import load_file

import scored_set
import torch_bert
import torch_gpt
import torch_detection
import torch_speech
import torch_wgan

STEPS, WARMUP, SEED = 10, 2, 1
FEW = pathlib.Path("few")


def train(dawn, name, case, **changed):
    settings = {"precision": "f32", "epochs": STEPS, "warmup_epochs": case.warmup, **case.settings, **changed}
    command = [dawn, "train", case.task, "--recipe", case.recipe, "--data", FEW, "--seed", str(SEED), "--no-stop", "--db",
               f"{name}.db"] + [x for s in settings.items() for x in ("--set", "%s=%s" % s)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr  # the target is missed
    run = subprocess.run([dawn, "results", "export", "1", "--db", f"{name}.db", "--format", "json"], capture_output=True)
    points = json.loads(run.stdout)["runs"][0]["points"]
    losses = [p["losses"] if "losses" in p else [{"loss": p["loss_micro"]}] for p in points]
    return load_file(f"{name}-run-1.safetensors"), [sum(x["loss"] * case.factors.get(x.get("name"), 1) for x in parts) / 1e6
                                                         for parts in losses]


def adamw(model, rate, decay, betas, eps):
    """Matrices and tables decay, norms and biases do not."""
    groups = [{"params": [p for p in model.parameters() if (p.dim() > 1) == big], "weight_decay": decay * big}
              for big in (True, False)]
    return [torch.optim.AdamW(groups, lr=rate, betas=betas, eps=eps)]


# ---- byte pair encoding as subword-nmt 0.2 learns it: the most frequent pair first, of equals the largest
def learn(words, merges):
    split = {word: [*word[:-1], word[-1] + "</w>"] for word in words}
    for _ in range(merges):
        count = {}
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]): count[pair] = count.get(pair, 0) + words[word]
        if not count or max(count.values()) < 2: break
        best = max(count, key=lambda pair: (count[pair], pair))
        for word, parts in split.items():
            i = 0
            while i < len(parts) - 1:
                if (parts[i], parts[i + 1]) == best: parts[i:i + 2] = [parts[i] + parts[i + 1]]
                i += 1
    return split


class Transformer(nn.Module):
    WIDTH, PAD = 128, 0

    def __init__(self, symbols):
        super().__init__()
        shape = {"d_model": self.WIDTH, "nhead": 4, "dim_feedforward": 256, "dropout": 0.0, "batch_first": True}
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**shape), 4, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape), 4)
        self.embedding = nn.Embedding(symbols, self.WIDTH)

    def embed(self, x):
        half = self.WIDTH // 2
        angle = torch.arange(x.shape[1])[:, None] * torch.exp(torch.arange(half) * (-math.log(10000) / (half - 1)))
        return self.embedding(x) * math.sqrt(self.WIDTH) + torch.cat((angle.sin(), angle.cos()), 1)

    def forward(self, source, read):
        later = torch.triu(torch.ones(read.shape[1], read.shape[1], dtype=torch.bool), 1)
        memory = self.encoder(self.embed(source), src_key_padding_mask=source == self.PAD)
        y = self.decoder(self.embed(read), memory, tgt_mask=later, memory_key_padding_mask=source == self.PAD)
        return nn.functional.linear(y, self.embedding.weight)


# ---- the cases

class Case:
    still = ("filter_lr", "head_lr", "bias_lr")
    clips = math.inf          # the largest norm of all gradients
    warmup = WARMUP
    factors = {}              # of the losses with these names; others have 1
    first, share = STEPS, 0   # an average of the weights begins after `first` steps and moves by `share` after each other one
    loose = ("in_proj_bias", "key.bias")  # the gradient of a key's bias is zero but for rounding
    ORDER, RANDOM = 2, 10     # purposes of draws

    def factor(self, left):  # of the rates, after the warm-up
        return left

    def shuffled(self, count, epoch):  # the samples in the order of the epoch
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            k = scored_set.philox(SEED, (i, epoch, self.ORDER, 0))[0] * (i + 1) >> 32
            order[i], order[k] = order[k], order[i]
        return order

    def draws(self, count, site, run):  # numbers below 2^24
        words = [scored_set.philox(SEED, (i, 0, self.RANDOM | site << 8, run)) for i in range(-(-count // 4))]
        return torch.tensor(words).flatten()[:count] // 256

    def advance(self, model, updates, step):  # by a step; the loss before it
        loss = self.loss(model, step)
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), self.clips)
        for u in updates: u.step()
        return getattr(self, "recorded", loss.item())


class Translation(Case):
    task, recipe = "multi30k", "transformer-tiny"
    PAIRS, PAD, BOS, EOS, FIRST = 16, 0, 1, 2, 4

    def __init__(self, folder):
        self.settings = {"dropout": 0, "tokens": 0, "batch": self.PAIRS, "merges": 200}
        texts = [(folder / f"train.lc.norm.tok.{side}").read_text().split("\n")[:self.PAIRS] for side in ("en", "de")]
        for part in ("train", "test_2016_flickr", "val"):
            for side, text in zip(("en", "de"), texts): (FEW / f"{part}.lc.norm.tok.{side}").write_text("\n".join(text) + "\n")
        words, count = {}, {}
        for line in texts[0] + texts[1]:
            for word in line.split(): words[word] = words.get(word, 0) + 1
        split = learn(words, self.settings["merges"])
        for word, parts in split.items():
            for part in parts: count[part] = count.get(part, 0) + words[word]
        number = {part: self.FIRST + i for i, part in enumerate(sorted(count, key=lambda part: (-count[part], part.encode())))}
        self.symbols = self.FIRST + len(number)
        self.source, self.target = (
            nn.utils.rnn.pad_sequence([torch.tensor([number[p] for w in line.split() for p in split[w]] + [self.EOS])
                                       for line in text], batch_first=True, padding_value=self.PAD) for text in texts)
        self.read = torch.cat((torch.full((self.PAIRS, 1), self.BOS), self.target[:, :-1]), 1)

    def model(self):
        return Transformer(self.symbols)

    def updates(self, model):
        return [torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98), eps=1e-9)]

    def loss(self, model, step):
        logits = model(self.source, self.read)
        return nn.functional.cross_entropy(logits.flatten(0, 1), self.target.flatten(), ignore_index=self.PAD,
                                           label_smoothing=0.1)


class Characters(Case):
    task, recipe, clips = "gpt-char", "gpt-char", 1
    BLOCK, BLOCKS, CROP = 256, 10, 4
    SHAPE = {"width": 192, "heads": 6, "layers": 6, "hidden": 768}

    def __init__(self, folder):
        text = (folder / "input.txt").read_text()[:2840]  # a validation of one block, a training of ten
        (FEW / "input.txt").write_text(text)
        self.settings = {"dropout": 0, "batch": self.BLOCKS}
        symbols = sorted(set(text))
        self.symbols, self.text = len(symbols), torch.tensor([symbols.index(c) for c in text[:len(text) * 9 // 10]])
        assert -(-(len(self.text) - 1) // self.BLOCK) == self.BLOCKS

    def model(self):
        return torch_gpt.GPT2(**self.SHAPE, symbols=self.symbols, block=self.BLOCK)

    def updates(self, model):
        return adamw(model, 2e-3, 0.1, (0.9, 0.99), 1e-8)

    def loss(self, model, step):
        shift = scored_set.philox(SEED, (0, step, self.CROP, 0))[0] * self.BLOCK >> 32
        at = [min(i * self.BLOCK + shift, len(self.text) - self.BLOCK - 1) for i in range(self.BLOCKS)]
        rows = torch.stack([self.text[i:i + self.BLOCK + 1] for i in at])
        return nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())


class Muon(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            o, m = self.param_groups[0], self.state[p].setdefault("m", torch.zeros_like(p))
            m.mul_(o["momentum"]).add_(p.grad)
            x = p.grad + o["momentum"] * m
            x = x / (x.norm() + 1e-7)
            if x.shape[0] > x.shape[1]: x = x.T
            for _ in range(5):
                a = x @ x.T
                x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
            p.sub_(o["lr"] * ((x.T if p.shape[0] > p.shape[1] else x) + o["decay"] * p))


class Modern(Characters):
    recipe, still, clips = "gpt-modern", Case.still + ("optimiser.embedding.lr",), math.inf

    def model(self):
        return torch_gpt.Modern(**self.SHAPE, symbols=self.symbols)

    def updates(self, model):
        rest = [{"params": [model.head.weight], "lr": 4e-3}, {"params": [model.embedding.weight], "lr": 0.05}]
        return [Muon(model.layers.parameters(), {"lr": 0.02, "momentum": 0.95, "decay": 0.1}),
                torch.optim.AdamW(rest, betas=(0.9, 0.95), eps=1e-8, weight_decay=0)]


class Cloze(Case):
    task, recipe, clips = "wiki-mlm", "wiki-mlm", 1
    SHORT, FORMS, SHARE, NEXT = 5, ((32, 5), (128, 20)), 0.15, 1  # the first epochs have short samples

    def __init__(self, folder):
        for n in range(4):
            found = re.findall(r"<doc .*?</doc>\n", (folder / f"wiki_0{n}").read_text(), re.S)
            found = [d for d in found if 1000 < len(d) < 8000][:3]
            (FEW / f"wiki_0{n}").write_text("".join(found))
        trained = [a for n in range(3) for a in scored_set.articles(FEW / f"wiki_0{n}")]
        pieces, encoder = scored_set.pieces_of(trained)
        self.symbols, self.texts = len(pieces), scored_set.encode(encoder, trained)
        self.samples = len(scored_set.walk(self.texts, (scored_set.SEED, scored_set.TRAIN, 0), self.FORMS[1][0]))
        self.settings = {"dropout": 0, "batch": self.samples, "short_epochs": self.SHORT}

    def model(self):
        return torch_bert.Bert(width=256, layers=4, heads=4, inner=1024, symbols=self.symbols, positions=128)

    def updates(self, model):
        return adamw(model, 1e-3, 0.01, (0.9, 0.999), 1e-6)

    def loss(self, model, step):
        (length, most), of = self.FORMS[step >= self.SHORT], (SEED, scored_set.TRAIN, step)
        pairs, masked = scored_set.epoch(self.texts, of, self.samples, self.symbols, length, most, self.SHARE)
        *x, labels, following = torch_bert.batch(pairs, masked, length, most)
        words, nexts = model(*x)
        masked = nn.functional.cross_entropy(words.flatten(0, 1), labels.flatten(), ignore_index=-1)
        nexts = nn.functional.cross_entropy(nexts, following)
        self.recorded = (masked + nexts).item()  # records have losses without their factors
        return masked + self.NEXT * nexts


class ModernCloze(Cloze):
    recipe, clips = "wiki-modern", math.inf
    FORMS, SHARE, NEXT = ((32, 13), (128, 51)), 0.4, 0.1

    def model(self):
        return torch_bert.Modern(width=256, layers=4, heads=4, inner=1024, symbols=self.symbols, rotary=100)

    def updates(self, model):
        rest = [p for name, p in model.named_parameters() if not name.startswith("layers.")]
        return [Muon(model.layers.parameters(), {"lr": 0.02, "momentum": 0.95, "decay": 0.1}),
                torch.optim.AdamW(rest, lr=2e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0)]


class Photos(Case):
    """Photographs at the size of the network's input, so that no program scales them. PyTorch computes in double: in f32 its own
    gradients of the first layers are a few percent apart from those. A large epsilon keeps small gradients from moving a weight by
    their sign alone."""
    task, recipe, clips = "bccd", "bccd", 10
    factors = {"box": torch_detection.BOX_FACTOR}
    first, share = 4, 0.5
    EPSILON = 1e-2
    PHOTOS, SIDES, SIZES, LEVELS = 16, (240, 320), 3, (8, 16, 32)
    CLASSES, MEAN, STD = ("RBC", "WBC", "Platelets"), (0.7371, 0.6959, 0.7153), (0.0606, 0.1020, 0.0754)

    def __init__(self, folder):
        self.settings = {"batch": self.PHOTOS, "data.flip": "never", "data.zoom": "1,1", "data.cache": 0, "ema.decay": 0.5,
                         "adam_epsilon": self.EPSILON}
        for part in ("Annotations", "JPEGImages", "ImageSets/Main"): (FEW / part).mkdir(parents=True, exist_ok=True)
        names = (folder / "ImageSets/Main/trainval.txt").read_text().split()[:self.PHOTOS + 1]
        for name in names: self.shrink(folder, name)
        (FEW / "ImageSets/Main/trainval.txt").write_text("\n".join(names[:-1]) + "\n")
        (FEW / "ImageSets/Main/test.txt").write_text(names[-1] + "\n")
        sides = [(*((numpy.stack((x, y)) + 0.5) * s), 2 * s * 2 ** (k / self.SIZES))
                 for s in self.LEVELS for y in range(-(-self.SIDES[0] // s)) for x in range(self.SIDES[1] // s)
                 for k in range(self.SIZES)]
        x, y, side = numpy.float32(sides).T
        self.anchors, self.corners = (x, y, side), numpy.stack((x - side / 2, y - side / 2, x + side / 2, y + side / 2), 1)
        pixels, targets = zip(*[self.read(name) for name in names[:-1]])
        self.images = ((torch.tensor(numpy.stack(pixels)) / 255 - torch.tensor(self.MEAN)) / torch.tensor(self.STD)).permute(
            0, 3, 1, 2).float().double()
        labels, deltas = zip(*targets)
        self.targets = torch.tensor(numpy.stack(labels)), torch.tensor(numpy.stack(deltas)).double()

    def shrink(self, folder, name):
        photo = PIL.Image.open(folder / f"JPEGImages/{name}.jpg").resize(self.SIDES[::-1])
        photo.save(FEW / f"JPEGImages/{name}.jpg", quality=95, subsampling=0)
        text = (folder / f"Annotations/{name}.xml").read_text()
        halved = re.sub(r"<(xmin|ymin|xmax|ymax|width|height)>(\d+)<", lambda m: f"<{m[1]}>{int(m[2]) // 2}<", text)
        (FEW / f"Annotations/{name}.xml").write_text(halved)

    def read(self, name):
        text = (FEW / f"Annotations/{name}.xml").read_text()
        boxes = [[int(re.search(f"<{k}>(\\d+)<", o)[1]) for k in ("xmin", "ymin", "xmax", "ymax")]
                 for o in re.findall(r"<object>.*?</object>", text, re.S)]
        classes = [self.CLASSES.index(c) for c in re.findall(r"<object>\s*<name>(\w+)<", text)]
        assert len(boxes) == len(classes) and all(min(b[2] - b[0], b[3] - b[1]) > 4 for b in boxes), name
        return numpy.asarray(PIL.Image.open(FEW / f"JPEGImages/{name}.jpg")), self.match(numpy.float32(boxes), classes)

    def match(self, boxes, classes):
        a, b = self.corners[:, None], boxes[None]
        both = (numpy.minimum(a[..., 2:], b[..., 2:]) - numpy.maximum(a[..., :2], b[..., :2])).clip(0).prod(2)
        overlap = both / ((a[..., 2:] - a[..., :2]).prod(2) + (b[..., 2:] - b[..., :2]).prod(2) - both)
        which, largest = overlap.argmax(1), overlap.max(1)
        takes = largest >= 0.5
        for k, best in enumerate(overlap.argmax(0)): takes[best], which[best] = True, k
        labels = numpy.where(takes, numpy.array(classes)[which], numpy.where(largest < 0.4, -1, -2))
        (x, y, side), box = self.anchors, boxes[which]
        deltas = numpy.stack((((box[:, 0] + box[:, 2]) / 2 - x) / side, ((box[:, 1] + box[:, 3]) / 2 - y) / side,
                              numpy.log((box[:, 2] - box[:, 0]) / side), numpy.log((box[:, 3] - box[:, 1]) / side)), 1)
        return labels, numpy.float32(deltas * takes[:, None])

    def factor(self, left):
        return (1 - math.cos(math.pi * left)) / 2

    def model(self):
        return torch_detection.retina().double().train()

    def updates(self, model):
        return adamw(model, 1e-3, 0.05, (0.9, 0.999), self.EPSILON)

    def loss(self, model, step):
        return torch_detection.losses(*model(self.images), *self.targets)


class People(Case):
    """PyTorch computes in double, as for photographs. The anchors and boxes that count in the losses are drawn as by DAWN, from
    counters."""
    task, recipe, clips = "pennfudan", "pennfudan", 10
    first, share = 8, 0.5
    EPSILON = 1e-2
    PHOTOS, SIDES, MEAN, STD = 8, (192, 256), (0.4358, 0.4395, 0.4007), (0.2614, 0.2487, 0.2554)
    ANCHORS, PROPOSALS, TRUTHS, DRAWN = 3024, 64, 16, 64

    def __init__(self, folder):
        import torch_maskrcnn  # which needs torchvision

        self.stages = torch_maskrcnn
        self.settings = {"batch": self.PHOTOS, "data.flip": "never", "data.zoom": "1,1", "data.cache": 0, "ema.decay": 0.5,
                         "adam_epsilon": self.EPSILON}
        names = sorted(path.stem for path in (folder / "PNGImages").glob("Fudan*.png"))[:3 * self.PHOTOS // 2]
        samples = [self.shrink(folder, name) for name in names]
        self.images, self.targets = zip(*[s for i, s in enumerate(samples) if i % 3])  # each third is scored

    def shrink(self, folder, name):
        for part in ("PNGImages", "PedMasks"): (FEW / part).mkdir(exist_ok=True)
        photo = PIL.Image.open(folder / f"PNGImages/{name}.png").resize(self.SIDES[::-1])
        mask = PIL.Image.open(folder / f"PedMasks/{name}_mask.png").resize(self.SIDES[::-1], PIL.Image.NEAREST)
        photo.save(FEW / f"PNGImages/{name}.png")
        PIL.Image.fromarray(numpy.asarray(mask)).save(FEW / f"PedMasks/{name}_mask.png")
        image = (torch.tensor(numpy.asarray(photo)) / 255 - torch.tensor(self.MEAN)) / torch.tensor(self.STD)
        people = [torch.tensor(numpy.asarray(mask) == value) for value in numpy.unique(mask)[1:]]
        corners = [(person.nonzero().amin(0), person.nonzero().amax(0) + 1) for person in people]
        boxes = torch.stack([torch.cat((low.flip(0), high.flip(0))) for low, high in corners]).double()
        assert len(people) <= self.TRUTHS and (boxes[:, 2:] - boxes[:, :2]).min() > 4, name
        return image.permute(2, 0, 1).double(), {"boxes": boxes, "labels": torch.ones(len(people), dtype=torch.int64),
                                                 "masks": torch.stack(people).to(torch.uint8)}

    def factor(self, left):
        return (1 - math.cos(math.pi * left)) / 2

    def model(self):  # with DAWN's names: without "backbone."
        backbone = self.stages.Backbone(torch_detection.WIDTHS, torch_detection.PYRAMID)
        net = self.stages.network(backbone, 2, 256, (128, self.PROPOSALS, self.DRAWN, self.DRAWN)).double().train()
        self.net, model = net, nn.Module()
        for name, part in (*net.backbone.named_children(), ("rpn", net.rpn), ("roi_heads", net.roi_heads)):
            model.add_module(name, part)
        return model

    def updates(self, model):
        return adamw(model, 2e-3, 0.05, (0.9, 0.999), self.EPSILON)

    def drawn(self, site, step, targets, all_, positive):  # of `all_` rows: the proposals, then the truths, which begin after PROPOSALS
        random = self.draws(self.PHOTOS * all_, site, step).view(self.PHOTOS, all_)

        def sampler(labels):
            chosen = []
            for label, numbers, target in zip(labels, random, targets):
                truths = len(target["boxes"]) if all_ != self.ANCHORS else 0
                at = torch.arange(len(label))
                at[len(label) - truths:] += self.PROPOSALS + truths - len(label)  # rows of DAWN's
                rank = numbers[at].argsort(stable=True)
                first = [i for i in rank.tolist() if label[i] > 0][:positive]
                rest = [i for i in rank.tolist() if label[i] == 0][:self.DRAWN - len(first)]
                chosen.append([torch.zeros(len(label), dtype=torch.uint8).index_fill(0, torch.tensor(x, dtype=torch.int64), 1)
                               for x in (first, rest)])
            return tuple(zip(*chosen))

        return sampler

    def loss(self, model, step):
        order = self.shuffled(self.PHOTOS, step)
        images, targets = torch.stack([self.images[i] for i in order]), [self.targets[i] for i in order]
        self.net.rpn.fg_bg_sampler = self.drawn(0, step, targets, self.ANCHORS, self.DRAWN // 2)
        self.net.roi_heads.fg_bg_sampler = self.drawn(1, step, targets, self.PROPOSALS + self.TRUTHS, self.DRAWN // 4)
        self.parts = self.stages.losses_of(self.net, images, [self.SIDES] * self.PHOTOS, targets)[0]
        return sum(self.parts)


class Utterances(Case):
    """PyTorch computes in double, as for photographs. A bias of a convolution before a norm has no gradient but for rounding."""
    task, recipe, clips = "an4", "an4", 5
    EPSILON = 1e-4
    LETTERS, COUNT, HEAD, WINDOW, HOP = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ ", 16, 1024, 320, 160
    loose = ("seq_module.0.bias", "seq_module.3.bias")

    def __init__(self, folder):
        still = dict.fromkeys(("data.tempo", "data.gain", "data.bands", "data.stretches"), 0)
        self.settings = {"batch": self.COUNT, "data.buckets": 1, "adam_epsilon": self.EPSILON, **still}
        names, texts = ((folder / f"etc/an4_train.{kind}").read_text().splitlines()[::50][:self.COUNT]
                        for kind in ("fileids", "transcription"))
        (FEW / "etc").mkdir(exist_ok=True)
        for part in ("train", "test"):
            for kind, lines in (("fileids", names), ("transcription", texts)):
                (FEW / f"etc/an4_{part}.{kind}").write_text("\n".join(lines) + "\n")
        spectra, labels = zip(*[self.read(folder, name, text) for name, text in zip(names, texts)])
        self.frames, self.counts = (torch.tensor([len(x) for x in of]) for of in (spectra, labels))
        self.spectra, self.labels = nn.utils.rnn.pad_sequence(spectra, batch_first=True), torch.cat(labels)

    def read(self, folder, name, text):
        sound = (folder / f"wav/{name}.sph").read_bytes()
        (FEW / f"wav/{name}.sph").parent.mkdir(parents=True, exist_ok=True)
        (FEW / f"wav/{name}.sph").write_bytes(sound)
        x = torch.tensor(numpy.frombuffer(sound, "<i2", offset=self.HEAD) / 2 ** 15)
        window = torch.hamming_window(self.WINDOW, dtype=x.dtype)
        x = torch.stft(x, self.WINDOW, self.HOP, window=window, pad_mode="constant", return_complex=True).abs().log1p().T
        words = re.sub(r"</?s>|\(.*", "", text).split()
        return (x - x.mean()) / x.std(), torch.tensor([self.LETTERS.index(c) for c in " ".join(words)])

    def factor(self, left):
        return (1 - math.cos(math.pi * left)) / 2

    def model(self):
        return torch_speech.DeepSpeech(channels=16, width=256, layers=3, stride=4, bins=161).double()

    def updates(self, model):
        return adamw(model, 1e-3, 0, (0.9, 0.999), self.EPSILON)

    def loss(self, model, step):
        logits, steps = model(self.spectra, self.frames)
        scores = logits.log_softmax(2).transpose(0, 1)
        return nn.functional.ctc_loss(scores, self.labels, steps, self.counts, reduction="sum") / self.COUNT


class Digits(Case):
    """An epoch is a step: five batches for the critic, one for the generator. PyTorch computes in double. Noise and places between
    pictures are those of DAWN, from counters."""
    task, recipe = "wgan-mnist", "wgan-mnist"
    factors, warmup = {"penalty": 10}, 0
    BATCH, EPSILON, TESTED = 16, 1e-4, 100
    NOISE_SITES, SHARE_SITE = (0, 1), 16  # of the critic and the generator; of the critic's second draw

    def __init__(self, folder):
        self.count = self.BATCH * torch_wgan.Wgan.CRITIC
        self.settings = {"batch": self.BATCH, "adam_epsilon": self.EPSILON, "evaluation.every": STEPS}
        for part, count in (("train", self.count), ("t10k", self.TESTED)):
            for kind, head, each in (("images-idx3", 16, 784), ("labels-idx1", 8, 1)):
                name = f"{part}-{kind}-ubyte"
                bytes_ = (folder / name).read_bytes()
                (FEW / name).write_bytes(bytes_[:4] + count.to_bytes(4, "big") + bytes_[8:head + count * each])
        (FEW / "lenet.pth").write_bytes((folder / "lenet.pth").read_bytes())
        pixels = numpy.frombuffer((FEW / "train-images-idx3-ubyte").read_bytes()[16:], numpy.uint8).reshape(-1, 1, 28, 28)
        self.images = nn.functional.pad(torch.tensor(pixels).double() / 127.5 - 1, (2,) * 4, value=-1)

    def factor(self, left):
        return 1

    def model(self):
        return torch_wgan.Wgan().double()

    def updates(self, model):
        return [torch.optim.Adam(part.parameters(), lr=1e-4, betas=(0.5, 0.9), eps=self.EPSILON)
                for part in (model.critic, model.generator)]

    def noise(self, program, run):
        u, v = self.draws(self.BATCH * 128, self.NOISE_SITES[program], run).double().view(-1, 2).T
        radius, turn = (-2 * ((u + 1) / 2 ** 24).log()).sqrt(), 2 * math.pi * v / 2 ** 24
        return torch.stack((radius * turn.cos(), radius * turn.sin()), 1).view(self.BATCH, 128)

    def advance(self, model, updates, step):
        cast, losses = contextlib.nullcontext(), []
        for i, batch in enumerate(torch.tensor(self.shuffled(self.count, step)).view(-1, self.BATCH)):
            run = step * torch_wgan.Wgan.CRITIC + i
            share = self.draws(self.BATCH, self.SHARE_SITE, run).double().view(-1, 1, 1, 1) / 2 ** 24
            losses.append(model.step_critic(updates[0], self.images[batch], self.noise(0, run), share, 10, cast))
        return sum(losses) / len(losses) + model.step_generator(updates[1], self.noise(1, step), cast)


CASES = {"transformer-tiny": Translation, "gpt-char": Characters, "gpt-modern": Modern, "wiki-mlm": Cloze,
         "wiki-modern": ModernCloze, "bccd": Photos, "pennfudan": People, "an4": Utterances, "wgan-mnist": Digits}


def as_torch(weights):
    """DAWN orders filters as [K,R,S,C]."""
    return {slot: w.permute(0, 3, 1, 2) if w.dim() == 4 else w for slot, w in weights.items()}


def values(model, slots):
    return {slot: value.clone() for slot, value in model.state_dict().items() if slot in slots}


def main():
    dawn, name, folder = sys.argv[1:]
    FEW.mkdir(exist_ok=True)
    case = CASES[name](pathlib.Path(folder))
    start, _ = train(dawn, f"{name}-start", case, **dict.fromkeys(case.still, 1e-30))
    end, losses = train(dawn, f"{name}-end", case)
    start, end = as_torch(start), as_torch(end)
    model = case.model()
    slots = [slot for slot, _ in model.named_parameters()]
    start, end = ({slot: at[slot].reshape(p.shape) for slot, p in model.named_parameters()} for at in (start, end))
    model.load_state_dict(start, strict=False)
    updates = case.updates(model)
    rates = [[g["lr"] for g in u.param_groups] for u in updates]
    apart, final = 0, None
    for step in range(STEPS):
        # The rates rise to 1 during the warm-up and fall to 0 at the end.
        w = case.warmup
        factor = 1 / (w + 1) + step / (w + 1) if step < w else case.factor(1 - (step - w) / (STEPS - w))
        for u, own in zip(updates, rates):
            for group, rate in zip(u.param_groups, own): group["lr"] = rate * factor
        theirs = case.advance(model, updates, step)
        apart = max(apart, abs(losses[step] / theirs - 1))
        print(f"step {step + 1}: loss {losses[step]:.6f}, PyTorch {theirs:.6f}")
        now = values(model, slots)
        if step + 1 <= case.first: final = now
        else: final = {slot: final[slot] + case.share * (now[slot] - final[slot]) for slot in slots}
    differ = {slot: ((value - end[slot]).norm() / (value - start[slot]).norm()).item()
              for slot, value in final.items() if not slot.endswith(case.loose)}
    most = max(differ, key=differ.get)
    print(f"losses: at most {apart:.1e} of them apart; weights after step {STEPS}: at most {differ[most]:.1e} of what they moved "
          f"apart ({most})")


main()
