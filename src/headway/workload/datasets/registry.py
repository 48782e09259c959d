def find(name: str) -> str: return name
