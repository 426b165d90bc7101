"""Makes test/data/trainer/objectives.json: losses of trainer/objective.ts and their gradients, computed by PyTorch.

    python test/tools/objectives.py > test/data/trainer/objectives.json

Written from the papers, not from the TypeScript: a second reading of the same formulas. Needs torch (2.x, any build).
Every case has the same logits; what is given is the loss and its gradient by the logits, in float64.
"""

import itertools
import json
import math

import torch

TEMPERATURE = 0.7
# Tokens of each episode; the third episode ran into the token limit.
LENGTHS = [5, 2, 7, 1]
TRUNCATED = 2
DIVISOR = 6
VOCABULARY = 9

generator = torch.Generator().manual_seed(11)
count = sum(LENGTHS)


def normal(*shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


logits = normal(count, VOCABULARY) * 2
old_logits = logits + normal(count, VOCABULARY) * 0.4
reference_logits = logits + normal(count, VOCABULARY) * 0.5
targets = torch.randint(VOCABULARY, (count,), generator=generator)
episode = torch.repeat_interleave(torch.arange(len(LENGTHS)), torch.tensor(LENGTHS))
advantage_of_episode = torch.tensor([0.9, -1.3, 0.4, -0.2], dtype=torch.float64)
advantages = advantage_of_episode[episode]


def chosen(values):
    return torch.log_softmax(values / TEMPERATURE, -1).gather(-1, targets[:, None])[:, 0]


sampled = chosen(old_logits)
reference = chosen(reference_logits)


def policy_term(name, logprob, clip_low, clip_high):
    if name == "reinforce":
        return -advantages * logprob
    ratio = torch.exp(logprob - sampled)
    if name == "importance":
        return -advantages * ratio
    bounded = torch.clamp(ratio, 1 - clip_low, 1 + clip_high)
    return -torch.minimum(advantages * ratio, advantages * bounded)


def kl_term(name, logprob):
    if name == "k1":
        return torch.exp(logprob - sampled) * (logprob - reference)
    log_ratio = reference - logprob
    return torch.exp(log_ratio) - log_ratio - 1


def mean_over_tokens(values, how, kept):
    """The mean the papers write, of the kept episodes' tokens."""
    sums = torch.stack([values[(episode == e)].sum() for e in range(len(LENGTHS))])
    sums = torch.stack([s if k else s * 0 for s, k in zip(sums, kept)])
    if how == "token":
        return sums.sum() / sum(n for n, k in zip(LENGTHS, kept) if k)
    if how == "sequence":
        return (sums / torch.tensor(LENGTHS, dtype=torch.float64)).mean()
    return (sums / DIVISOR).mean()


def case(policy_loss, length, *, kl_beta=0.0, kl_estimator="k3", entropy_bonus=0.0, clip=(0.2, 0.2), mask=False):
    variable = logits.clone().requires_grad_(True)
    logprob = chosen(variable)
    distribution = torch.distributions.Categorical(logits=variable / TEMPERATURE)
    token = policy_term(policy_loss, logprob, *clip)
    token = token + kl_beta * kl_term(kl_estimator, logprob) - entropy_bonus * distribution.entropy()
    loss = mean_over_tokens(token, length, [not (mask and e == TRUNCATED) for e in range(len(LENGTHS))])
    loss.backward()
    options = {
        "policy_loss": policy_loss,
        "length": length,
        "kl_beta": kl_beta,
        "kl_estimator": kl_estimator,
        "entropy_bonus": entropy_bonus,
        "clip_low": clip[0],
        "clip_high": clip[1],
        "mask_truncated": mask,
    }
    return {"options": options, "loss": loss.item(), "gradient": variable.grad.tolist()}


def cases():
    for policy_loss, length in itertools.product(["reinforce", "importance", "ppo_clip"], ["token", "sequence", "fixed"]):
        yield case(policy_loss, length)
    yield case("ppo_clip", "token", clip=(0.1, 0.5))
    for estimator in ("k1", "k3"):
        yield case("reinforce", "fixed", kl_beta=0.3, kl_estimator=estimator)
    yield case("reinforce", "token", entropy_bonus=0.05)
    for length in ("token", "sequence", "fixed"):
        yield case("ppo_clip", length, kl_beta=0.1, entropy_bonus=0.01, mask=True)


def rounded(value):
    """Ten significant digits: as much as a comparison in float32 can use."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.10g}")
    return value


data = {
    "temperature": TEMPERATURE,
    "lengths": LENGTHS,
    "truncated": TRUNCATED,
    "length_divisor": DIVISOR,
    "logits": logits.tolist(),
    "targets": targets.tolist(),
    "advantages": advantage_of_episode.tolist(),
    "sampled_logprobs": sampled.tolist(),
    "reference_logprobs": reference.tolist(),
    "cases": list(cases()),
}
print(json.dumps(rounded(data), separators=(",", ":")))
