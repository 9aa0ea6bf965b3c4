"""Tune chat models on decisions: LoRA adapters by SFT, DPO and PPO, and their export for llama.cpp."""
