"""Best arm where a pull costs its reward: what MAB-PPR and its rivals pay, and where its constants stop being safe.

Sabato (2019), "Epsilon-best-arm identification in pay-per-reward multi-armed bandits", NeurIPS. The paper has no
experiments: these are ours.
"""
