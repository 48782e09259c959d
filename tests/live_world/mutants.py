MUTANTS = {"": ()}
