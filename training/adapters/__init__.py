"""Tune chat models on moderators' decisions: LoRA adapters by SFT, DPO and PPO, and their export for llama.cpp."""
