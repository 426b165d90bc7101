"""The checkpoint's network in plain PyTorch: what one would write by hand for speed.

Query, key and value are one matrix, as are gate and up, and logits are computed for the completion alone. Left out:
padding, since all rows of the benchmark have the same length, and a cache.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE on [B, H, T, d] (Su et al. 2021)."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Layer(nn.Module):
    """Attention and SwiGLU, each after a norm and beside a residual."""

    def __init__(self, config: Dict[str, Any], weights: Dict[str, Tensor]) -> None:
        super().__init__()
        self.heads, self.width, self.epsilon = config["num_attention_heads"], config["head_dim"], config["rms_norm_eps"]
        self.input_norm = nn.Parameter(weights["input_layernorm.weight"])
        self.query_norm = nn.Parameter(weights["self_attn.q_norm.weight"])
        self.key_norm = nn.Parameter(weights["self_attn.k_norm.weight"])
        self.mlp_norm = nn.Parameter(weights["post_attention_layernorm.weight"])
        self.qkv = nn.Parameter(torch.cat([weights[f"self_attn.{name}_proj.weight"] for name in "qkv"]))
        self.out = nn.Parameter(weights["self_attn.o_proj.weight"])
        self.gate_up = nn.Parameter(torch.cat([weights[f"mlp.{name}_proj.weight"] for name in ("gate", "up")]))
        self.down = nn.Parameter(weights["mlp.down_proj.weight"])

    def norm(self, x: Tensor, gain: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), gain, self.epsilon)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:  # [B, T, D]
        batch, length, _ = x.shape
        qkv = functional.linear(self.norm(x, self.input_norm), self.qkv)
        query, key, value = qkv.view(batch, length, 3, self.heads, self.width).permute(2, 0, 3, 1, 4)  # [B, H, T, d]
        query = rotate(self.norm(query, self.query_norm), cos, sin)
        key = rotate(self.norm(key, self.key_norm), cos, sin)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + functional.linear(mixed.transpose(1, 2).reshape(batch, length, -1), self.out)
        gate, up = functional.linear(self.norm(x, self.mlp_norm), self.gate_up).chunk(2, -1)
        return x + functional.linear(functional.silu(gate) * up, self.down)


class Decoder(nn.Module):
    """Qwen3's architecture with as many key as query heads and tied embeddings."""

    def __init__(self, config: Dict[str, Any], checkpoint: Path) -> None:
        super().__init__()
        weights = load_file(checkpoint / "model.safetensors")
        layers = range(config["num_hidden_layers"])
        prefixes = [f"model.layers.{layer}." for layer in layers]
        self.layers = nn.ModuleList(
            Layer(config, {name[len(p) :]: value for name, value in weights.items() if name.startswith(p)})
            for p in prefixes
        )
        self.embedding = nn.Parameter(weights["model.embed_tokens.weight"])
        self.norm = nn.Parameter(weights["model.norm.weight"])
        self.epsilon = config["rms_norm_eps"]
        half = torch.arange(0, config["head_dim"], 2) / config["head_dim"]
        angles = torch.outer(torch.arange(config["max_position_embeddings"]).float(), config["rope_theta"] ** -half)
        self.register_buffer("cos", torch.cat([angles, angles], -1).cos(), persistent=False)
        self.register_buffer("sin", torch.cat([angles, angles], -1).sin(), persistent=False)

    def forward(self, ids: Tensor, first: int) -> Tensor:
        """Mean cross entropy of the tokens of ids [B, T] from place `first` on."""
        inputs, targets = ids[:, :-1], ids[:, first:]
        cos, sin = self.cos[: inputs.shape[1]], self.sin[: inputs.shape[1]]
        x = functional.embedding(inputs, self.embedding)
        for layer in self.layers:
            x = layer(x, cos, sin)
        x = functional.rms_norm(x[:, first - 1 :], (x.shape[-1],), self.norm, self.epsilon)
        logits = functional.linear(x, self.embedding)  # [B, K, V]
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
