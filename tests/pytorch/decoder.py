"""A small language model that is trained here: a decoder of two blocks on the letters of one text."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

TEXT = (
    "a unit multiplies two blocks and adds a third. the products are exact, the sum is not: every term is "
    "shifted to the largest exponent, and what falls off the end is lost. another unit keeps other bits. "
)
LETTERS = sorted(set(TEXT))
CONTEXT = 32


class Block(nn.Module):
    """Attention and two linear layers, each with its norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Any) -> Any:
        split = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(split[0], split[1], split[2], is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.between(x))))


class Decoder(nn.Module):
    """Logits [1, T, letters] of ids [1, T], of which the last CONTEXT count."""

    def __init__(self, width: int = 64, heads: int = 4, blocks: int = 2) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(blocks))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(LETTERS), bias=False)

    def forward(self, ids: Any) -> Any:
        ids = ids[:, -CONTEXT:]
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def encoded(text: str) -> list[int]:
    return [LETTERS.index(x) for x in text]


def trained(steps: int, seed: int = 1) -> Decoder:
    """A decoder after some steps on windows of the text, in fp32."""
    torch.manual_seed(seed)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    ids = torch.tensor(encoded(TEXT))
    for _ in range(steps):
        starts = torch.randint(len(ids) - CONTEXT - 1, (16,))
        rows = torch.stack([ids[s : s + CONTEXT + 1] for s in starts.tolist()])
        loss = functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    return model
