"""PyTorch's side of `npm run bench:trainer`: training, sampling, and the machine's peak in matrix products.

    python test/bench/torch/worker.py CHECKPOINT WORKLOAD.json --threads 2

Reads requests as JSON lines (protocol.py): {"do": "losses", "steps"}, {"do": "train", "seconds"},
{"do": "sample", "batch", "seconds"}, {"do": "gemm", "seconds"}. Before the first figure of a kind it tries the ways to
do it (transformers or plain PyTorch; a growing or a static cache; threads) and keeps the fastest. Left out:
torch.compile, which gained 1 % in training with two threads for a minute of compilation.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from protocol import answer, read_request

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")

import torch
from decoder import Decoder
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

IGNORED = -100
GEMM_SIZES = (256, 384, 512, 768, 1024, 1536, 2048)


class Workload(NamedTuple):
    """What both sides compute; see test/bench/trainer/workload.ts."""

    batches: List[Tensor]
    prompt_length: int
    prompts: Tensor
    new_tokens: int
    adamw: Dict[str, float]
    clip_norm: float


def read_workload(path: Path) -> Workload:
    content = json.loads(path.read_text())
    batches = [torch.tensor([p + c for p, c in zip(b["prompt_ids"], b["completion_ids"])]) for b in content["batches"]]
    return Workload(
        batches=batches,
        prompt_length=len(content["batches"][0]["prompt_ids"][0]),
        prompts=torch.tensor(content["prompts"]),
        new_tokens=content["new_tokens"],
        adamw=content["adamw"],
        clip_norm=content["clip_norm"],
    )


# -------------------------------------------------------------------------------------------------------- training


class Trainer:
    """A network and its optimizer; `step` trains on the next batch."""

    def __init__(self, net: nn.Module, loss: Callable[[nn.Module, Tensor], Tensor], workload: Workload) -> None:
        self.net, self.loss, self.workload = net.train(), loss, workload
        adamw = workload.adamw
        self.optimizer = torch.optim.AdamW(
            net.parameters(),
            lr=adamw["lr"],
            betas=(adamw["beta1"], adamw["beta2"]),
            eps=adamw["epsilon"],
            weight_decay=0.0,
            fused=True,
        )
        self.steps = 0

    def step(self) -> float:
        ids = self.workload.batches[self.steps % len(self.workload.batches)]
        self.steps += 1
        loss = self.loss(self.net, ids)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.workload.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()


def transformers_net(checkpoint: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32, attn_implementation="sdpa")


def transformers_trainer(checkpoint: Path, workload: Workload) -> Trainer:
    def loss(net: nn.Module, ids: Tensor) -> Tensor:
        labels = ids.clone()
        labels[:, : workload.prompt_length] = IGNORED
        return net(input_ids=ids, labels=labels).loss

    return Trainer(transformers_net(checkpoint), loss, workload)


def plain_trainer(checkpoint: Path, workload: Workload) -> Trainer:
    config = json.loads((checkpoint / "config.json").read_text())
    return Trainer(Decoder(config, checkpoint), lambda net, ids: net(ids, workload.prompt_length), workload)


TRAINERS = {"transformers (sdpa)": transformers_trainer, "plain PyTorch": plain_trainer}


# ---------------------------------------------------------------------------------------------------------- timing


def repeat(work: Callable[[], Any], seconds: float) -> Tuple[int, float]:
    """Repeats `work` for about `seconds`: how often it ran, and in how many seconds."""
    start = time.perf_counter()
    count = 0
    while True:
        work()
        count += 1
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return count, elapsed


def fastest(ways: Dict[str, Callable[[], Any]], seconds: float) -> str:
    """The name of the way that ran most often; each is run once before it is timed."""
    rates = {}
    for name, work in ways.items():
        work()
        count, elapsed = repeat(work, seconds)
        rates[name] = count / elapsed
    return max(rates, key=lambda name: rates[name])


# -------------------------------------------------------------------------------------------------------- the side


class Side:
    """Answers requests; what it builds for one kind of them it keeps."""

    def __init__(self, checkpoint: Path, workload: Workload, threads: int) -> None:
        self.checkpoint, self.workload, self.threads = checkpoint, workload, threads
        self.trainers: Dict[str, Trainer] = {}
        self.best: Dict[str, str] = {}
        self.samplers: Dict[int, Dict[str, Callable[[], Any]]] = {}
        self.net: Any = None

    def losses(self, steps: int) -> Dict[str, Any]:
        """The losses of the first steps, of each implementation."""
        self.trainers = {name: make(self.checkpoint, self.workload) for name, make in TRAINERS.items()}
        return {"losses": {name: [trainer.step() for _ in range(steps)] for name, trainer in self.trainers.items()}}

    def train(self, seconds: float) -> Dict[str, Any]:
        ways = {name: trainer.step for name, trainer in self.trainers.items()}
        if "train" not in self.best:
            self.best["train"] = fastest(ways, seconds)
        way = self.best["train"]
        count, elapsed = repeat(ways[way], seconds)
        return {"per_s": count * self.workload.batches[0].numel() / elapsed, "way": way}

    def sample(self, batch: int, seconds: float) -> Dict[str, Any]:
        if batch not in self.samplers:
            self.samplers[batch] = self._samplers(batch)
        ways, key = self.samplers[batch], f"sample {batch}"
        with torch.inference_mode():
            if key not in self.best:
                self.best[key] = fastest(ways, seconds / 2)
            way = self.best[key]
            count, elapsed = repeat(ways[way], seconds)
        torch.set_num_threads(self.threads)
        return {"per_s": count * batch * self.workload.new_tokens / elapsed, "way": way}

    def _samplers(self, batch: int) -> Dict[str, Callable[[], Any]]:
        self.net = self.net or transformers_net(self.checkpoint).eval()
        self.net.generation_config.eos_token_id = None  # each completion takes all its tokens
        prompts = self.workload.prompts[:batch]
        plan = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "use_cache": True}

        def generate(threads: int, **more: Any) -> None:
            torch.set_num_threads(threads)
            mask = torch.ones_like(prompts)
            ids = self.net.generate(prompts, attention_mask=mask, max_new_tokens=new, **plan, **more)
            if tuple(ids.shape) != (batch, prompts.shape[1] + new):
                raise ValueError(f"generate gave {tuple(ids.shape)}")

        new = self.workload.new_tokens
        caches = {"growing cache": {}, "static cache": {"cache_implementation": "static"}}
        return {
            f"{name}, {threads} threads": partial(generate, threads, **more)
            for name, more in caches.items()
            for threads in sorted({1, self.threads})
        }

    def gemm(self, seconds: float) -> Dict[str, Any]:
        """GFLOPS of the best square product."""
        best = (0.0, 0)
        for size in GEMM_SIZES:
            a, b = torch.rand(size, size), torch.rand(size, size)
            work = partial(torch.mm, a, b)
            work()
            count, elapsed = repeat(work, seconds / len(GEMM_SIZES))
            best = max(best, (2e-9 * size**3 * count / elapsed, size))
        return {"per_s": best[0], "way": f"torch.mm, {best[1]} x {best[1]}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("workload", type=Path)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    side = Side(options.checkpoint, read_workload(options.workload), options.threads)
    answers = {"losses": side.losses, "train": side.train, "sample": side.sample, "gemm": side.gemm}
    while (request := read_request()) is not None:
        answer(answers[request.pop("do")](**request))


if __name__ == "__main__":
    main()
