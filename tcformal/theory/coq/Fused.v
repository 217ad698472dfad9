(** One fused sum in a circuit: the claims about its cut points that make it compute [Spec.sum_values]. *)
From Coq Require Import ZArith List Bool Lia Psatz Permutation.
From TC Require Import Spec Theorems Rounded Bv Circuit.
Import ListNotations.
Open Scope Z_scope.

(** * Numbers in a circuit *)

(** The nodes of a number: its exponent is the code plus [low]. *)
Record number := Number { sign : positive; significand : positive; code : positive; low : Z; bits_below : Z; nan : positive; inf : positive }.

Definition num_in (v : env) (r : number) : num :=
  {| neg := v (sign r) =? 1; sig := v (significand r); exp := v (code r) + low r; frac := bits_below r |}.
Definition val_in (v : env) (r : number) : val :=
  if v (nan r) =? 1 then NaN else if v (inf r) =? 1 then Inf (v (sign r) =? 1) else Num (num_in v r).

(** * Formulas *)

Definition Always : formula := Equal (Num_ 0) (Num_ 0).
Definition Never : formula := Negation Always.
Definition Iff (a b : formula) : formula := Either (Both a b) (Both (Negation a) (Negation b)).
Definition all_of (l : list formula) : formula := fold_right Both Always l.
Definition any_of (l : list formula) : formula := fold_right Either Never l.
Definition constant (b : bool) : formula := if b then Always else Never.
Definition within (bound : Z) (t : term) : formula := Both (AtMost (Num_ (- bound)) t) (AtMost t (Num_ bound)).
Definition finite (r : number) : formula := Both (Negation (Is (nan r))) (Negation (Is (inf r))).
Definition exponent (r : number) : term := Plus (U (code r)) (Num_ (low r)).

Section Truth.
Variables (m : widths) (v : env).
Lemma truth_iff a b : truth m v (Iff a b) = Bool.eqb (truth m v a) (truth m v b).
Proof. simpl. now destruct (truth m v a), (truth m v b). Qed.
Lemma truth_all l : truth m v (all_of l) = forallb (truth m v) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma truth_any l : truth m v (any_of l) = existsb (truth m v) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma truth_constant b : truth m v (constant b) = b.
Proof. now destruct b. Qed.
Lemma truth_within b t : truth m v (within b t) = true <-> - b <= value m v t <= b.
Proof. simpl. rewrite andb_true_iff, !Z.leb_le. reflexivity. Qed.
Lemma truth_finite r : truth m v (finite r) = true <-> val_in v r = Num (num_in v r).
Proof. simpl. unfold val_in. destruct (v (nan r) =? 1), (v (inf r) =? 1); simpl; split; easy. Qed.
End Truth.

(** * The plan of a fused sum *)

(** A term: its number, the node that is 1 where it is zero, the shift, the aligned magnitude; [span]: the largest code
    of a finite number. *)
Record addend := Addend { of : number; zero_node : positive; shift : positive; aligned : positive; span : Z }.

(** The order in which signed terms are added: nodes in two's complement. *)
Inductive sum_tree := Leaf (node : positive) (place : nat) | Partial (node : positive) (l r : sum_tree).

Record fused := Fused {
  addends : list addend;
  top : positive; top_low : Z; top_span : Z;     (** the largest exponent *)
  partials : sum_tree;
  total_node : positive;                         (** in two's complement *)
  kept : positive; away : positive; height : positive;
  outcome : number
}.

Section Claims.
Variables (m : widths) (d : sum) (f : Z) (x : fused).
Let c := out d.

Definition absent : addend := Addend (Number 1 1 1 0 0 1 1) 1 1 1 0.
Definition in_span (a : addend) : formula := AtMost (U (code (of a))) (Num_ (span a)).
Definition spans : list formula := map in_span (addends x).
Definition top_term : term := Plus (U (top x)) (Num_ (top_low x)).

(** The exponent with which a term takes part in the largest one, where it does. *)
Definition takes_part (a : addend) : formula := match zero_exponent d with ZeroNone => Negation (Is (zero_node a)) | _ => Always end.
Definition part (a : addend) : term :=
  match zero_exponent d with ZeroAt e => If (Is (zero_node a)) (Num_ e) (exponent (of a)) | _ => exponent (of a) end.

(** Terms: codes in their span, zero flags. *)
Definition term_claims (a : addend) : list claim :=
  [Claim [finite (of a)] (in_span a);
   Claim [finite (of a)] (Iff (Is (zero_node a)) (Equal (U (significand (of a))) (Num_ 0)))].

(** Alignment: [aligned * 2^shift] is the magnitude, cut. *)
Definition up (a : addend) : Z := Z.max 0 (f - bits_below (of a)).
Definition down (a : addend) : Z := Z.max 0 (bits_below (of a) - f).
Definition align_width (a : addend) : Z := width_in m (significand (of a)) + up a.
Definition clamped (a : addend) : term := Low (U (shift a)) (Num_ (align_width a)).
Definition align_claims (a : addend) : list claim :=
  let scaled t := Times (Shift t (clamped a)) (Num_ (2 ^ down a)) in
  let magnitude := Times (U (significand (of a))) (Num_ (2 ^ up a)) in
  [Claim (takes_part a :: spans) (AtMost (part a) top_term);
   Claim (Negation (Is (zero_node a)) :: spans) (Equal (U (shift a)) (Minus top_term (exponent (of a))));
   Claim [] (Both (AtMost (scaled (U (aligned a))) magnitude) (Less magnitude (scaled (Plus (U (aligned a)) (Num_ 1)))))].

(** The largest exponent. *)
Definition top_claims : list claim :=
  [Claim spans (Either (all_of (map (fun a => Negation (takes_part a)) (addends x)))
                  (any_of (map (fun a => Both (takes_part a) (Equal (part a) top_term)) (addends x))));
   Claim spans (AtMost (U (top x)) (Num_ (top_span x)))].

(** The sum. *)
Definition tree_node (t : sum_tree) : positive := match t with Leaf n _ | Partial n _ _ => n end.
Fixpoint tree_bound (t : sum_tree) : Z :=
  match t with
  | Leaf _ i => 2 ^ width_in m (aligned (nth i (addends x) absent)) - 1
  | Partial _ l r => tree_bound l + tree_bound r
  end.
Definition within_tree (t : sum_tree) : formula := within (tree_bound t) (Sg (tree_node t)).
Fixpoint tree_claims (t : sum_tree) : list claim :=
  match t with
  | Leaf n i =>
      let a := nth i (addends x) absent in
      [Claim [] (Equal (Sg n) (If (Is (sign (of a))) (Minus (Num_ 0) (U (aligned a))) (U (aligned a))))]
  | Partial n l r =>
      Claim [within_tree l; within_tree r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) :: tree_claims l ++ tree_claims r
  end.
Fixpoint places (t : sum_tree) : list nat := match t with Leaf _ i => [i] | Partial _ l r => places l ++ places r end.

Definition n_term : term := Sg (total_node x).
Definition n_zero : formula := Equal n_term (Num_ 0).
Definition n_within : formula := within (tree_bound (partials x)) n_term.
Definition sum_claims : list claim :=
  Claim [within_tree (partials x)] (Equal n_term (Sg (tree_node (partials x)))) :: tree_claims (partials x).

(** Normalisation and rounding: the exponents of the last kept bit, and of the unit of the sum. *)
Definition last_kept : term := Plus (U (height x)) (Num_ (emin c - p c)).
Definition unit_term : term := Plus (U (top x)) (Num_ (top_low x - f)).
Definition most : Z := Z.log2 (tree_bound (partials x) + 1) + 3.
Definition right : term := Low (Minus last_kept unit_term) (Num_ most).
Definition left : term := Low (Minus unit_term last_kept) (Num_ (p c + 1)).
Definition away_formula : formula :=
  let k := U (kept x) in
  let rest := Minus (Abs n_term) (Shift k right) in
  let one := Shift (Num_ 1) right in
  let odd := Equal (Bits 0 1 k) (Num_ 1) in
  let inexact := Negation (Equal rest (Num_ 0)) in
  match rho c with
  | RZ => Never
  | RNE => Either (Less one (Plus rest rest)) (Both (Equal one (Plus rest rest)) odd)
  | RNA => AtMost one (Plus rest rest)
  | RO => Both inexact (Negation odd)
  | RD => Both inexact (Less n_term (Num_ 0))
  | RU => Both inexact (Negation (Less n_term (Num_ 0)))
  end.
Definition null : formula := Both (Equal (U (kept x)) (Num_ 0)) (Negation (Is (away x))).
Definition normal : formula := Either (AtMost (Num_ (2 ^ p c)) (U (kept x))) (Equal (U (height x)) (Num_ 0)).
Definition kept_claims : list claim :=
  let common := [n_within; AtMost (U (top x)) (Num_ (top_span x))] in
  let k := U (kept x) in
  [Claim (n_zero :: common) null;
   Claim (Negation n_zero :: common) normal;
   Claim (Negation n_zero :: AtMost last_kept unit_term :: common) (Both (Equal k (Shift (Abs n_term) left)) (Negation (Is (away x))));
   Claim (Negation n_zero :: Less unit_term last_kept :: common)
     (Both (AtMost (Shift k right) (Abs n_term)) (Less (Abs n_term) (Shift (Plus k (Num_ 1)) right)));
   Claim (Negation n_zero :: Less unit_term last_kept :: common) (Iff (Is (away x)) away_formula)].

(** Special values, and the number that is handed on. *)
Definition numbers_of : list number := map of (addends x).
Definition plus_inf : formula := any_of (map (fun r => Both (Is (inf r)) (Negation (Is (sign r)))) numbers_of).
Definition minus_inf : formula := any_of (map (fun r => Both (Is (inf r)) (Is (sign r))) numbers_of).
Definition is_nan : formula := Either (any_of (map (fun r => Is (nan r)) numbers_of)) (Both plus_inf minus_inf).
Definition is_inf : formula := Either plus_inf minus_inf.

Definition grown : term := Plus (U (kept x)) (If (Is (away x)) (Num_ 1) (Num_ 0)).
Definition carried : formula := AtMost (Num_ (2 ^ (p c + 1))) grown.
Definition zero_formula : formula := Either (Equal grown (Num_ 0)) (Both (constant (flushes c)) (Less grown (Num_ (2 ^ p c)))).
Definition raised : term := Plus (U (height x)) (If carried (Num_ 1) (Num_ 0)).
Definition over_formula : formula := Both (AtMost (Num_ (2 ^ p c)) grown) (Less (Num_ (emax c - emin c)) raised).
Definition to_infinity_formula : formula :=
  if saturates c
  then match rho c with RNE | RNA => Always | RD => Less n_term (Num_ 0) | RU => Negation (Less n_term (Num_ 0)) | _ => Never end
  else Always.
Definition sum_sign_formula : formula :=
  let agree := Either (all_of (map (fun r => Is (sign r)) numbers_of)) (all_of (map (fun r => Negation (Is (sign r))) numbers_of)) in
  let nothing := all_of (map (fun a => Equal (U (aligned a)) (Num_ 0)) (addends x)) in
  Either (Both (Negation n_zero) (Less n_term (Num_ 0)))
    (Both n_zero (Either (Both (Both nothing agree) (any_of (map (fun r => Is (sign r)) numbers_of)))
                         (Both (Negation (Both nothing agree)) (constant (match rho c with RD => true | _ => false end))))).
Definition zero_sign_formula : formula :=
  match zsign c with Positive => Never | IeeeSign => sum_sign_formula | SumSign => Both (Negation n_zero) sum_sign_formula end.

Definition outcome_claims : list claim :=
  let r := outcome x in
  let usual := [Negation is_nan; Negation is_inf; Either (Negation n_zero) null; Either n_zero normal] in
  let overflow := Both (Negation zero_formula) (Both over_formula to_infinity_formula) in
  [Claim [] (Iff (Is (nan r)) is_nan);
   Claim [Negation is_nan; is_inf] (Both (Is (inf r)) (Iff (Is (sign r)) minus_inf));
   Claim usual (Iff (Is (inf r)) overflow);
   Claim usual (Iff (Is (sign r)) (Either (Both zero_formula zero_sign_formula) (Both (Negation zero_formula) (Less n_term (Num_ 0)))));
   Claim (Negation overflow :: usual)
     (Equal (U (significand r))
        (If zero_formula (Num_ 0) (If over_formula (Num_ (2 ^ (p c + 1) - 1)) (If carried (Num_ (2 ^ p c)) grown))));
   Claim (Negation overflow :: usual)
     (Equal (exponent r) (If zero_formula (Num_ (emin c)) (If over_formula (Num_ (emax c)) (Plus (Num_ (emin c)) raised))))].

Definition fused_claims : list claim :=
  flat_map term_claims (addends x) ++ flat_map align_claims (addends x) ++ top_claims ++ sum_claims ++ kept_claims ++ outcome_claims.

(** What is computed beside the claims. *)
Definition fused_ok : bool :=
  match fraction_bits d with Some g => g =? f | None => false end && match alignment d with RZ => true | _ => false end &&
  match carry_bits d with None => true | _ => false end && negb (normalise d) &&
  (0 <=? p c) && (emin c <=? emax c) && negb (tiny c) && (bits_below (outcome x) =? p c) &&
  (width_in m (kept x) =? p c + 1) &&
  forallb (fun a => 1 <=? width_in m (significand (of a))) (addends x) &&
  (forallb (fun i => (i <? length (addends x))%nat) (places (partials x)) && (length (places (partials x)) =? length (addends x))%nat &&
   forallb (fun i => existsb (Nat.eqb i) (places (partials x))) (seq 0 (length (addends x)))).

(** The nodes whose values are read as numbers in their widths. *)
Definition fused_nodes : list positive :=
  kept x :: away x :: height x :: top x :: total_node x ::
  flat_map (fun a => [significand (of a); code (of a); shift a; aligned a; sign (of a)]) (addends x) ++
  [sign (outcome x)].
End Claims.

(** * The claims are enough *)

Lemma existsb_map {A B} (g : A -> B) q l : existsb q (map g l) = existsb (fun a => q (g a)) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma forallb_map {A B} (g : A -> B) q l : forallb q (map g l) = forallb (fun a => q (g a)) l.
Proof. induction l; simpl; auto. now rewrite IHl. Qed.
Lemma existsb_ext {A} (q r : A -> bool) l : (forall a, In a l -> q a = r a) -> existsb q l = existsb r l.
Proof. intros H. induction l; simpl; auto. rewrite H by (now left). f_equal. apply IHl. intros. apply H. now right. Qed.
Lemma forallb_ext {A} (q r : A -> bool) l : (forall a, q a = r a) -> forallb q l = forallb r l.
Proof. intros H. induction l; simpl; auto. now rewrite H, IHl. Qed.

Section Special.
Variables (m : widths) (v : env).

Lemma special_values d ns :
  let plus := any_of (map (fun r => Both (Is (inf r)) (Negation (Is (sign r)))) ns) in
  let minus := any_of (map (fun r => Both (Is (inf r)) (Is (sign r))) ns) in
  let nans := any_of (map (fun r => Is (nan r)) ns) in
  let is_nan := truth m v nans || (truth m v plus && truth m v minus) in
  let is_inf := truth m v plus || truth m v minus in
  (is_nan = true -> sum_values d (map (val_in v) ns) = NaN) /\
  (is_nan = false -> is_inf = true -> sum_values d (map (val_in v) ns) = Inf (truth m v minus)) /\
  (is_nan = false -> is_inf = false -> Forall (fun r => truth m v (finite r) = true) ns /\
     sum_values d (map (val_in v) ns) = sum_numbers d (map (num_in v) ns)).
Proof.
  intros plus minus nans. unfold plus, minus, nans. rewrite !truth_any, !existsb_map. cbn [truth].
  set (hn := existsb (fun r => v (nan r) =? 1) ns).
  set (hp := existsb (fun r => (v (inf r) =? 1) && negb (v (sign r) =? 1)) ns).
  set (hm := existsb (fun r => (v (inf r) =? 1) && (v (sign r) =? 1)) ns). cbv zeta.
  assert (FIN : hn = false -> hp || hm = false -> Forall (fun r => truth m v (finite r) = true) ns).
  { unfold hn, hp, hm. intros A B. apply Forall_forall. intros r I. simpl.
    assert (N : v (nan r) =? 1 = false). { destruct (v (nan r) =? 1) eqn:Q; auto. rewrite <- A. symmetry. apply existsb_exists. exists r. auto. }
    rewrite N. simpl. destruct (v (inf r) =? 1) eqn:Q; auto. exfalso. apply orb_false_elim in B. destruct B as [B1 B2].
    destruct (v (sign r) =? 1) eqn:W.
    - assert (X : existsb (fun r => (v (inf r) =? 1) && (v (sign r) =? 1)) ns = true) by (apply existsb_exists; exists r; rewrite Q, W; auto). congruence.
    - assert (X : existsb (fun r => (v (inf r) =? 1) && negb (v (sign r) =? 1)) ns = true) by (apply existsb_exists; exists r; rewrite Q, W; auto). congruence. }
  assert (NUM : Forall (fun r => truth m v (finite r) = true) ns -> numbers (map (val_in v) ns) = Some (map (num_in v) ns)).
  { intros F. rewrite <- numbers_map, map_map. f_equal. apply map_ext_in. intros r I. rewrite Forall_forall in F. apply (truth_finite m v). auto. }
  assert (NOT : forall e, hn || (hp || hm) = true -> numbers (map (val_in v) ns) = Some e -> False).
  { intros e H E. unfold numbers in E. destruct (forallb is_num (map (val_in v) ns)) eqn:Q; [|easy]. rewrite forallb_map in Q. rewrite forallb_forall in Q.
    assert (X : forall r, In r ns -> v (nan r) =? 1 = false /\ v (inf r) =? 1 = false).
    { intros r I. specialize (Q r I). unfold val_in in Q. destruct (v (nan r) =? 1), (v (inf r) =? 1); auto; easy. }
    unfold hn, hp, hm in H. rewrite !orb_true_iff, !existsb_exists in H. destruct H as [[r [I H]]|[[r [I H]]|[r [I H]]]]; destruct (X r I) as [A B].
    - congruence. - rewrite B in H. easy. - rewrite B in H. easy. }
  assert (SN : existsb (fun w => match w with NaN => true | _ => false end) (map (val_in v) ns) = hn).
  { rewrite existsb_map. apply existsb_ext. intros r _. unfold val_in. destruct (v (nan r) =? 1), (v (inf r) =? 1); auto. }
  assert (SP : hn = false -> existsb (fun w => match w with Inf false => true | _ => false end) (map (val_in v) ns) = hp).
  { intros A. rewrite existsb_map. apply existsb_ext. intros r I. unfold val_in.
    assert (N : v (nan r) =? 1 = false). { destruct (v (nan r) =? 1) eqn:Q; auto. rewrite <- A. symmetry. apply existsb_exists. exists r. auto. }
    rewrite N. destruct (v (inf r) =? 1), (v (sign r) =? 1); auto. }
  assert (SM : hn = false -> existsb (fun w => match w with Inf true => true | _ => false end) (map (val_in v) ns) = hm).
  { intros A. rewrite existsb_map. apply existsb_ext. intros r I. unfold val_in.
    assert (N : v (nan r) =? 1 = false). { destruct (v (nan r) =? 1) eqn:Q; auto. rewrite <- A. symmetry. apply existsb_exists. exists r. auto. }
    rewrite N. destruct (v (inf r) =? 1), (v (sign r) =? 1); auto. }
  unfold sum_values. repeat split.
  - intros H. destruct (numbers (map (val_in v) ns)) eqn:E. { exfalso. apply (NOT _ ltac:(destruct hn, hp, hm; easy) eq_refl). }
    unfold special_sum. rewrite SN. destruct hn eqn:A; auto. rewrite (SP eq_refl), (SM eq_refl). simpl in H. apply andb_prop in H. destruct H as [-> ->]. reflexivity.
  - intros H J. destruct (numbers (map (val_in v) ns)) eqn:E. { exfalso. apply (NOT _ ltac:(destruct hn, hp, hm; easy) eq_refl). }
    unfold special_sum. rewrite SN. destruct hn eqn:A; [easy|]. rewrite (SP eq_refl), (SM eq_refl). destruct hp, hm; easy.
  - apply FIN; destruct hn, hp, hm; easy.
  - rewrite NUM; auto. apply FIN; destruct hn, hp, hm; easy.
Qed.
End Special.

Lemma shift_clamped a g w s : 0 <= s -> 0 <= a -> 0 <= g < 2 ^ w -> 0 <= w ->
  a * 2 ^ Z.min s w <= g < (a + 1) * 2 ^ Z.min s w -> a * 2 ^ s <= g < (a + 1) * 2 ^ s.
Proof.
  intros S A G W H. destruct (Z.le_gt_cases s w) as [L|L]; [now rewrite Z.min_l in H by lia|]. rewrite Z.min_r in H by lia.
  assert (a = 0) by nia. subst a. pose proof (Z.pow_le_mono_r 2 w s ltac:(lia) ltac:(lia)). lia.
Qed.

(** The magnitude [g * 2^-fr], at the exponent [e], in units of [2^(E - f)]. *)
Lemma cut_floor f s a g neg_ e fr : 0 <= s -> 0 <= g -> 0 <= a ->
  let u := Z.max 0 (f - fr) in let dn := Z.max 0 (fr - f) in
  a * 2 ^ s * 2 ^ dn <= g * 2 ^ u < (a + 1) * 2 ^ s * 2 ^ dn ->
  cut RZ (s + e - f) {| neg := neg_; sig := g; exp := e; frac := fr |} = with_sign neg_ a.
Proof.
  intros S G A u dn H. unfold cut, signed, lsb; cbn [neg sig exp frac]. set (k := s + e - f - (e - fr)).
  assert (K : k = s + dn - u) by (unfold k, u, dn; lia).
  assert (PU : 0 < 2 ^ u) by (apply pow2_gt; unfold u; lia). assert (PD : 0 < 2 ^ dn) by (apply pow2_gt; unfold dn; lia).
  assert (PS : 0 < 2 ^ s) by (apply pow2_gt; lia). rewrite <- !Z.mul_assoc, <- Z.pow_add_r in H by (unfold dn; lia).
  destruct (Z.le_gt_cases k 0) as [L|L].
  - assert (Q : 2 ^ u = 2 ^ (- k) * 2 ^ (s + dn)) by (rewrite <- Z.pow_add_r by (unfold dn in *; lia); f_equal; lia).
    assert (0 < 2 ^ (s + dn)) by (apply pow2_gt; unfold dn; lia). rewrite Q in H.
    assert (E : a = g * 2 ^ (- k)) by nia. rewrite round_div_unfold. destruct (Z.leb_spec k 0); [|lia]. rewrite E. unfold with_sign. destruct neg_; lia.
  - assert (Q : 2 ^ (s + dn) = 2 ^ k * 2 ^ u) by (rewrite <- Z.pow_add_r by (unfold u in *; lia); f_equal; lia). rewrite Q in H.
    assert (B : a * 2 ^ k <= g < (a + 1) * 2 ^ k) by nia.
    assert (AB : Z.abs (if neg_ then - g else g) = g) by (destruct neg_; lia).
    rewrite (round_div_kept RZ _ a k) by (rewrite ?AB; lia || auto). cbn [away_rule Z.b2z]. rewrite Z.add_0_r.
    destruct neg_.
    + destruct (Z.ltb_spec (- g) 0); auto. assert (g = 0) by lia. subst g. pose proof (pow2_gt k ltac:(lia)). assert (a = 0) by nia. subst a. reflexivity.
    + destruct (Z.ltb_spec g 0); auto. lia.
Qed.

Section Sound.
Variables (ct : circuit) (d : sum) (f : Z) (x : fused) (v : env).
Let m := widths_of ct.
Let c := out d.
Hypothesis OK : fused_ok m d f x = true.
Hypothesis CL : Forall (holds ct) (fused_claims m d f x).
Hypothesis SOL : solution ct v.
Hypothesis NODES : forall i, In i (fused_nodes x) -> fits m v i.

Let T := truth m v.

Lemma ok_parts : fraction_bits d = Some f /\ alignment d = RZ /\ carry_bits d = None /\ normalise d = false /\ 0 <= p c /\ emin c <= emax c /\
  tiny c = false /\ bits_below (outcome x) = p c /\ width_in m (kept x) = p c + 1 /\
  (forall a, In a (addends x) -> 1 <= width_in m (significand (of a))) /\
  Permutation (seq 0 (length (addends x))) (places (partials x)).
Proof.
  unfold fused_ok in OK. fold c in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[[[[A B] C] D] E] F] G] H] I] J] [[K L] M]].
  destruct (fraction_bits d) as [g|] eqn:Fb; [|easy]. apply Z.eqb_eq in A, H, I. apply Z.leb_le in E, F. apply negb_true_iff in D, G.
  destruct (alignment d) eqn:Al; try easy. destruct (carry_bits d) eqn:Cb; try easy. rewrite forallb_forall in J, M. apply Nat.eqb_eq in L.
  repeat split; auto; try congruence.
  - intros a Ha. apply Z.leb_le. auto.
  - apply NoDup_Permutation_bis. apply seq_NoDup. rewrite seq_length, L. auto. intros i Hi. specialize (M i Hi). rewrite existsb_exists in M.
    destruct M as [j [Hj Q]]. apply Nat.eqb_eq in Q. now subst.
Qed.

Lemma use q : In q (fused_claims m d f x) -> forallb T (given q) = true -> T (goal q) = true.
Proof. intros I G. rewrite Forall_forall in CL. exact (CL q I v SOL G). Qed.

Lemma in_terms a q : In a (addends x) -> In q (term_claims a) -> In q (fused_claims m d f x).
Proof. intros A Q. unfold fused_claims. apply in_or_app. left. apply in_flat_map. eauto. Qed.
Lemma in_aligns a q : In a (addends x) -> In q (align_claims m d f x a) -> In q (fused_claims m d f x).
Proof. intros A Q. unfold fused_claims. apply in_or_app. right. apply in_or_app. left. apply in_flat_map. eauto. Qed.
Lemma in_tops q : In q (top_claims d x) -> In q (fused_claims m d f x).
Proof. intros Q. unfold fused_claims. do 2 (apply in_or_app; right). apply in_or_app. now left. Qed.
Lemma in_sums q : In q (sum_claims m x) -> In q (fused_claims m d f x).
Proof. intros Q. unfold fused_claims. do 3 (apply in_or_app; right). apply in_or_app. now left. Qed.
Lemma in_kept q : In q (kept_claims m d f x) -> In q (fused_claims m d f x).
Proof. intros Q. unfold fused_claims. do 4 (apply in_or_app; right). apply in_or_app. now left. Qed.
Lemma in_outcome q : In q (outcome_claims d x) -> In q (fused_claims m d f x).
Proof. intros Q. unfold fused_claims. do 5 (apply in_or_app; right). exact Q. Qed.

Lemma node_in a i : In a (addends x) -> In i [significand (of a); code (of a); shift a; aligned a; sign (of a)] -> fits m v i.
Proof. intros A I. apply NODES. unfold fused_nodes. do 5 right. apply in_or_app. left. apply in_flat_map. eauto. Qed.

Lemma fits_low i : fits m v i -> 0 <= v i. Proof. intros H. apply H. Qed.

Section Finite.
Hypothesis FIN : Forall (fun r => T (finite r) = true) (numbers_of x).

Lemma fin a : In a (addends x) -> T (finite (of a)) = true.
Proof. intros A. rewrite Forall_forall in FIN. apply FIN. now apply in_map. Qed.

Lemma spans_true : forallb T (spans x) = true.
Proof.
  unfold spans. rewrite forallb_map. apply forallb_forall. intros a A.
  apply (use (Claim [finite (of a)] (in_span a))). { apply in_terms with a; auto. now left. }
  cbn [given forallb]. now rewrite fin.
Qed.

Lemma zero_is a : In a (addends x) -> (v (zero_node a) =? 1) = is_zero (num_in v (of a)).
Proof.
  intros A. assert (H : T (Iff (Is (zero_node a)) (Equal (U (significand (of a))) (Num_ 0))) = true).
  { apply (use (Claim [finite (of a)] (Iff (Is (zero_node a)) (Equal (U (significand (of a))) (Num_ 0))))).
    apply in_terms with a; auto. right; now left. cbn [given forallb]. now rewrite fin. }
  unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. exact H.
Qed.

Let E := v (top x) + top_low x.
Let ts := map (num_in v) (numbers_of x).

Lemma part_is a : In a (addends x) ->
  term_exponent d (num_in v (of a)) = if T (takes_part d a) then Some (value m v (part d a)) else None.
Proof.
  intros A. destruct ok_parts as [_ [_ [_ [N _]]]]. unfold term_exponent. rewrite N, <- (zero_is a A).
  unfold T, takes_part, part. destruct (zero_exponent d); simpl; destruct (v (zero_node a) =? 1); reflexivity.
Qed.

Lemma part_le a : In a (addends x) -> T (takes_part d a) = true -> value m v (part d a) <= E.
Proof.
  intros A P. assert (H : T (AtMost (part d a) (top_term x)) = true).
  { apply (use (Claim (takes_part d a :: spans x) (AtMost (part d a) (top_term x)))). apply in_aligns with a; auto. now left.
    cbn [given forallb]. now rewrite P, spans_true. }
  unfold T in H. cbn [truth top_term value] in H. now apply Z.leb_le.
Qed.

Lemma largest_is : largest d ts = Some E \/ (largest d ts = None /\ forall a, In a (addends x) -> T (takes_part d a) = false).
Proof.
  assert (TE : forall t, In t ts -> exists a, In a (addends x) /\ t = num_in v (of a)).
  { intros t I. unfold ts, numbers_of in I. rewrite map_map in I. apply in_map_iff in I. destruct I as [a [<- A]]. eauto. }
  assert (H : T (Either (all_of (map (fun a => Negation (takes_part d a)) (addends x)))
                  (any_of (map (fun a => Both (takes_part d a) (Equal (part d a) (top_term x))) (addends x)))) = true).
  { apply (use (Claim (spans x) (Either (all_of (map (fun a => Negation (takes_part d a)) (addends x)))
                  (any_of (map (fun a => Both (takes_part d a) (Equal (part d a) (top_term x))) (addends x)))))).
    apply in_tops. now left. apply spans_true. }
  unfold T in H. cbn [truth] in H. rewrite truth_all, truth_any, forallb_map, existsb_map in H. apply orb_prop in H. destruct H as [H|H].
  - right. rewrite forallb_forall in H. assert (Q : forall a, In a (addends x) -> T (takes_part d a) = false).
    { intros a A. specialize (H a A). cbn [truth] in H. now apply negb_true_iff in H. }
    split; auto. assert (L : forall t, In t ts -> term_exponent d t = None).
    { intros t I. destruct (TE t I) as [a [A ->]]. rewrite part_is, Q by easy. reflexivity. }
    unfold largest. clear -L. induction ts as [|t l IH]; simpl; auto. rewrite L by (now left). rewrite IH; auto. intros. apply L. now right.
  - left. apply existsb_exists in H. destruct H as [a [A H]]. cbn [truth] in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H2.
    apply ole_antisym.
    + apply largest_le. intros t I. destruct (TE t I) as [b [B ->]]. rewrite part_is by easy. destruct (T (takes_part d b)) eqn:Q; simpl; auto. now apply part_le.
    + replace (Some E) with (term_exponent d (num_in v (of a))). { apply largest_in. unfold ts, numbers_of. rewrite map_map. now apply (in_map (fun a => num_in v (of a))). }
      rewrite part_is by easy. unfold T. rewrite H1. f_equal. exact H2.
Qed.

Lemma aligned_is a : In a (addends x) -> 0 <= v (aligned a) /\
  cut RZ (E - f) (num_in v (of a)) = with_sign (v (sign (of a)) =? 1) (v (aligned a)) /\ (is_zero (num_in v (of a)) = true -> v (aligned a) = 0).
Proof.
  intros A. set (g := v (significand (of a))). set (al := v (aligned a)).
  assert (FG : fits m v (significand (of a))) by (apply (node_in a); simpl; auto). assert (G0 : 0 <= g) by apply (fits_low _ FG).
  assert (A0 : 0 <= al) by (apply fits_low; apply (node_in a); simpl; auto). assert (S0 : 0 <= v (shift a)) by (apply fits_low; apply (node_in a); simpl; auto).
  destruct ok_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [WS _]]]]]]]]]]. specialize (WS a A).
  set (w := align_width m f a). assert (UP : 0 <= up f a) by (unfold up; lia). assert (W : 0 <= w) by (unfold w, align_width; lia).
  assert (AL : al * 2 ^ Z.min (v (shift a)) w * 2 ^ down f a <= g * 2 ^ up f a < (al + 1) * 2 ^ Z.min (v (shift a)) w * 2 ^ down f a).
  { set (q := nth 2 (align_claims m d f x a) (Claim [] Never)). assert (H : T (goal q) = true).
    { apply use. apply in_aligns with a; auto. right; right; now left. reflexivity. }
    unfold T, q in H. cbn [nth align_claims goal truth value clamped] in H. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H. exact H. }
  assert (PD : 0 < 2 ^ down f a) by (apply pow2_gt; unfold down; lia).
  assert (GW : 0 <= g * 2 ^ up f a < 2 ^ w).
  { unfold w, align_width. rewrite Z.pow_add_r by lia. destruct FG as [_ FG]. fold g in FG. pose proof (pow2_gt (up f a) UP). nia. }
  assert (Z0 : is_zero (num_in v (of a)) = true -> al = 0).
  { unfold is_zero. cbn [num_in sig]. fold g. intros Q. apply Z.eqb_eq in Q. rewrite Q in AL. pose proof (pow2_gt (Z.min (v (shift a)) w) ltac:(lia)).
    assert (0 < 2 ^ Z.min (v (shift a)) w * 2 ^ down f a) by nia. nia. }
  repeat split; auto. destruct (is_zero (num_in v (of a))) eqn:Zr.
  { rewrite cut_zero, Z0 by easy. unfold with_sign. now destruct (_ =? 1). }
  assert (NZ : T (Negation (Is (zero_node a))) = true) by (unfold T; cbn [truth]; now rewrite zero_is, Zr).
  assert (SH : v (shift a) = E - (v (code (of a)) + low (of a))).
  { set (q := nth 1 (align_claims m d f x a) (Claim [] Never)). assert (H : T (goal q) = true).
    { apply use. apply in_aligns with a; auto. right; now left. unfold q. cbn [nth align_claims given forallb]. now rewrite NZ, spans_true. }
    unfold T, q in H. cbn [nth align_claims goal truth value top_term exponent] in H. now apply Z.eqb_eq in H. }
  replace (E - f) with (v (shift a) + (v (code (of a)) + low (of a)) - f) by lia. unfold num_in.
  apply cut_floor; auto. fold g. change (Z.max 0 (f - bits_below (of a))) with (up f a). change (Z.max 0 (bits_below (of a) - f)) with (down f a).
  (* the clamped shift moves as much *)
  destruct (Z.le_gt_cases (v (shift a)) w) as [L|L]. { now rewrite Z.min_l in AL by lia. }
  rewrite Z.min_r in AL by lia. assert (P2 : 0 < 2 ^ w) by (apply pow2_gt; lia).
  assert (al = 0). { assert (al * 2 ^ w * 2 ^ down f a < 2 ^ w) by lia. assert (al * 2 ^ w < 2 ^ w \/ 2 ^ w <= al * 2 ^ w) by lia. destruct H0; nia. }
  rewrite H in *. assert (2 ^ w <= 2 ^ v (shift a)) by (apply Z.pow_le_mono_r; lia). nia.
Qed.

Lemma tree_is t : (forall q, In q (tree_claims m x t) -> In q (fused_claims m d f x)) -> (forall i, In i (places t) -> (i < length (addends x))%nat) ->
  sg (width_in m (tree_node t)) (v (tree_node t)) =
    zsum (map (fun i => let a := nth i (addends x) absent in with_sign (v (sign (of a)) =? 1) (v (aligned a))) (places t)) /\
  - tree_bound m x t <= sg (width_in m (tree_node t)) (v (tree_node t)) <= tree_bound m x t.
Proof.
  induction t as [n i|n l IHl r IHr]; intros Q P.
  - assert (A : In (nth i (addends x) absent) (addends x)) by (apply nth_In, P; now left). set (a := nth i (addends x) absent) in *.
    assert (H : T (Equal (Sg n) (If (Is (sign (of a))) (Minus (Num_ 0) (U (aligned a))) (U (aligned a)))) = true).
    { apply (use (Claim [] (Equal (Sg n) (If (Is (sign (of a))) (Minus (Num_ 0) (U (aligned a))) (U (aligned a)))))); auto. apply Q. now left. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places map zsum fold_right]. fold a.
    assert (FA : fits m v (aligned a)) by (apply (node_in a); simpl; auto). unfold fits, inw in FA. cbn [tree_bound]. fold a. rewrite H. unfold with_sign.
    destruct (v (sign (of a)) =? 1); lia.
  - destruct IHl as [SL BL]. { intros q I. apply Q. cbn [tree_claims]. right. apply in_or_app. now left. } { intros i I. apply P. cbn [places]. apply in_or_app. now left. }
    destruct IHr as [SR BR]. { intros q I. apply Q. cbn [tree_claims]. right. apply in_or_app. now right. } { intros i I. apply P. cbn [places]. apply in_or_app. now right. }
    assert (H : T (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))) = true).
    { apply (use (Claim [within_tree m x l; within_tree m x r] (Equal (Sg n) (Plus (Sg (tree_node l)) (Sg (tree_node r)))))). apply Q. now left.
      cbn [given forallb]. unfold T, within_tree. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
    unfold T in H. cbn [truth value] in H. apply Z.eqb_eq in H. cbn [tree_node places tree_bound]. rewrite H, map_app, zsum_app, SL, SR. rewrite <- SL, <- SR at 2 3. split; auto. lia.
Qed.

Let n := sg (width_in m (total_node x)) (v (total_node x)).

Lemma places_ok i : In i (places (partials x)) -> (i < length (addends x))%nat.
Proof. intros I. destruct ok_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ P]]]]]]]]]]. apply (Permutation_in _ (Permutation_sym P)) in I. apply in_seq in I. lia. Qed.

Lemma n_is : n = zsum (map (fun a => with_sign (v (sign (of a)) =? 1) (v (aligned a))) (addends x)) /\
  - tree_bound m x (partials x) <= n <= tree_bound m x (partials x).
Proof.
  destruct (tree_is (partials x)) as [S B]. { intros q I. apply in_sums. now right. } { apply places_ok. }
  assert (H : T (Equal (n_term x) (Sg (tree_node (partials x)))) = true).
  { apply (use (Claim [within_tree m x (partials x)] (Equal (n_term x) (Sg (tree_node (partials x)))))). apply in_sums. now left.
    cbn [given forallb]. unfold T, within_tree. rewrite !(proj2 (truth_within m v _ _)) by (cbn [value]; assumption). reflexivity. }
  unfold T in H. cbn [truth value n_term] in H. apply Z.eqb_eq in H. fold n in H. rewrite <- H in B, S. split; auto. rewrite S.
  destruct ok_parts as [_ [_ [_ [_ [_ [_ [_ [_ [_ [_ P]]]]]]]]]]. rewrite <- (zsum_perm _ _ (Permutation_map _ P)). f_equal.
  clear. generalize absent. intros z. generalize (addends x). intros l. 
  assert (X : forall k (g : addend -> Z), map (fun i => g (nth (i - k) l z)) (seq k (length l)) = map g l).
  { induction l as [|a l IH]; intros k g; simpl; auto. rewrite Nat.sub_diag. f_equal. rewrite <- (IH (S k) g). apply map_ext_in. intros i I. apply in_seq in I.
    replace (i - k)%nat with (S (i - S k)) by lia. reflexivity. }
  rewrite <- (X 0%nat). apply map_ext. intros i. now rewrite Nat.sub_0_r.
Qed.

Lemma ts_is : ts = map (fun a => num_in v (of a)) (addends x).
Proof. unfold ts, numbers_of. now rewrite map_map. Qed.

Lemma counts_at u : (forall t, In t ts -> cut RZ u t = cut RZ (E - f) t) -> map (cut RZ u) ts = map (fun a => with_sign (v (sign (of a)) =? 1) (v (aligned a))) (addends x).
Proof.
  intros H. rewrite (map_ext_in _ _ _ H), ts_is, map_map. apply map_ext_in. intros a A. now apply aligned_is.
Qed.

Lemma all_zero_absent : (forall a, In a (addends x) -> T (takes_part d a) = false) -> forall t, In t ts -> is_zero t = true.
Proof.
  intros H t I. rewrite ts_is in I. apply in_map_iff in I. destruct I as [a [<- A]]. specialize (H a A). rewrite <- zero_is by easy.
  unfold T, takes_part in H. destruct (zero_exponent d); cbn [truth] in H; try easy. now apply negb_false_iff in H.
Qed.

Lemma counts_is : counts d ts = map (fun a => with_sign (v (sign (of a)) =? 1) (v (aligned a))) (addends x).
Proof.
  destruct ok_parts as [Fb [Al _]]. unfold counts, unit_of. rewrite Fb, Al. destruct largest_is as [L|[L H]]; rewrite L.
  - now apply counts_at.
  - apply counts_at. intros t I. pose proof (all_zero_absent H t I). now rewrite !cut_zero.
Qed.

Lemma kept_is : kept_facts c n (E - f) (v (kept x)) (v (height x)) (v (away x) =? 1).
Proof.
  destruct ok_parts as [_ [_ [_ [_ [P [_ [_ [_ [WK _]]]]]]]]]. destruct n_is as [_ B].
  assert (FK : fits m v (kept x)) by (apply NODES; simpl; auto). unfold fits, inw in FK. rewrite WK in FK.
  assert (H0 : 0 <= v (height x)) by (apply fits_low, NODES; simpl; auto).
  assert (C1 : T (n_within m x) = true) by (unfold T, n_within; apply truth_within; exact B).
  assert (C2 : T (AtMost (U (top x)) (Num_ (top_span x))) = true).
  { apply (use (Claim (spans x) (AtMost (U (top x)) (Num_ (top_span x))))). apply in_tops. right; now left. apply spans_true. }
  assert (Q : forall k q, nth_error (kept_claims m d f x) k = Some q -> forallb T (given q) = true -> T (goal q) = true).
  { intros k q N G. apply use; auto. apply in_kept. eapply nth_error_In; eauto. }
  assert (TN : T (n_zero x) = (n =? 0)) by reflexivity.
  set (tb := tree_bound m x (partials x)) in *. assert (TB : 0 <= tb) by lia.
  assert (MO : Z.abs n < 2 ^ (most m x - 2)).
  { unfold most. fold tb. replace (Z.log2 (tb + 1) + 3 - 2) with (Z.succ (Z.log2 (tb + 1))) by lia. pose proof (Z.log2_spec (tb + 1) ltac:(lia)). lia. }
  assert (M3 : 3 <= most m x) by (unfold most; fold tb; pose proof (Z.log2_nonneg (tb + 1)); lia).
  assert (N0 : n <> 0 -> T (Negation (n_zero x)) = true) by (intros N; unfold T; cbn [truth]; fold T; rewrite TN; now destruct (Z.eqb_spec n 0)).
  assert (LK : value m v (last_kept d x) = v (height x) + emin c - p c) by (cbn [value last_kept]; fold c; lia).
  assert (UT : value m v (unit_term f x) = E - f) by (cbn [value unit_term]; unfold E; lia).
  constructor; auto.
  - intros N. assert (H : T (null x) = true). { apply (Q 0%nat _ eq_refl). cbn [given forallb]. rewrite C1, C2, TN, N. reflexivity. }
    unfold T in H. cbn [truth null value] in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. apply negb_true_iff in H2. auto.
  - intros N. assert (H : T (normal d x) = true). { apply (Q 1%nat _ eq_refl). cbn [given forallb]. rewrite C1, C2, (N0 N). reflexivity. }
    unfold T in H. cbn [truth normal value] in H. fold c in H. apply orb_prop in H. destruct H as [H|H]; [left; now apply Z.leb_le|right; now apply Z.eqb_eq].
  - intros N L.
    assert (G : T (AtMost (last_kept d x) (unit_term f x)) = true) by (unfold T; cbn [truth]; rewrite LK, UT; apply Z.leb_le; lia).
    assert (H := Q 2%nat _ eq_refl). cbn [given forallb goal] in H. rewrite C1, C2, (N0 N), G in H. specialize (H eq_refl). unfold T in H.
    cbn [truth value left n_term] in H. rewrite LK, UT in H. fold c n in H. apply andb_prop in H. destruct H as [H1 H2]. apply Z.eqb_eq in H1. apply negb_true_iff in H2. split; auto.
    rewrite H1. set (k := E - f - (v (height x) + emin c - p c)) in *. destruct (Z.le_gt_cases k (p c + 1)) as [J|J]. now rewrite Z.min_l by lia.
    exfalso. rewrite Z.min_r in H1 by lia. nia.
  - intros N L. set (k := v (height x) + emin c - p c - (E - f)) in *.
    assert (G : T (Less (unit_term f x) (last_kept d x)) = true) by (unfold T; cbn [truth]; rewrite LK, UT; apply Z.ltb_lt; lia).
    assert (H := Q 3%nat _ eq_refl). cbn [given forallb goal] in H. rewrite C1, C2, (N0 N), G in H. specialize (H eq_refl).
    assert (A := Q 4%nat _ eq_refl). cbn [given forallb goal] in A. rewrite C1, C2, (N0 N), G in A. specialize (A eq_refl).
    unfold T in H, A. cbn [truth value right n_term] in H. rewrite LK, UT in H. fold c n k in H. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H.
    assert (K0 : 0 < k) by (unfold k; lia). set (w := most m x) in *.
    assert (PB : 2 ^ w = 4 * 2 ^ (w - 2)) by (replace w with (2 + (w - 2)) at 1 by lia; now rewrite Z.pow_add_r by lia).
    split. { apply (shift_clamped _ _ w); try lia. }
    rewrite truth_iff in A. apply eqb_prop in A. cbn [truth] in A. rewrite A. clear A Q.
    assert (R : value m v (right m d f x) = Z.min k w) by (cbn [value right]; rewrite LK, UT; reflexivity).
    assert (SAME : forall one rest, one = 2 ^ Z.min k w -> rest = Z.abs n - v (kept x) * 2 ^ Z.min k w ->
       rest = Z.abs n - v (kept x) * 2 ^ k /\ (one = 2 ^ k \/ (2 ^ w = one /\ one <= 2 ^ k /\ 4 * rest < one))).
    { intros one rest O Rr. destruct (Z.le_gt_cases k w) as [J|J]. { rewrite Z.min_l in * by lia. auto. }
      rewrite Z.min_r in * by lia. assert (v (kept x) = 0) by nia. rewrite H1 in *. split; [lia|]. right.
      assert (2 ^ w <= 2 ^ k) by (apply Z.pow_le_mono_r; lia). subst. lia. }
    destruct (SAME _ _ eq_refl eq_refl) as [S1 S2].
    assert (OD : (Z.odd (v (kept x))) = ((v (kept x) / 2 ^ 0) mod 2 ^ 1 =? 1)).
    { rewrite Z.pow_0_r, Z.div_1_r. change (2 ^ 1) with 2. rewrite Zmod_odd. now destruct (Z.odd (v (kept x))). }
    unfold away_formula, away_rule. fold c. rewrite <- S1.
    destruct (rho c); cbn [truth value n_term]; rewrite ?R; fold n; rewrite ?Z.mul_1_l, <- ?OD, <- ?Z.negb_odd; auto.
    + set (rest := Z.abs n - v (kept x) * 2 ^ Z.min k w) in *. replace (2 * rest) with (rest + rest) by lia. destruct S2 as [-> |[S2 [S3 S4]]]; auto.
      assert (RP : 0 <= rest) by (unfold rest; lia).
      destruct (Z.ltb_spec (2 ^ Z.min k w) (rest + rest)); [lia|]. destruct (Z.eqb_spec (2 ^ Z.min k w) (rest + rest)); [lia|].
      destruct (Z.ltb_spec (2 ^ k) (rest + rest)); [lia|]. destruct (Z.eqb_spec (2 ^ k) (rest + rest)); [lia|]. reflexivity.
    + set (rest := Z.abs n - v (kept x) * 2 ^ Z.min k w) in *. replace (2 * rest) with (rest + rest) by lia. destruct S2 as [-> |[S2 [S3 S4]]]; auto.
      assert (RP : 0 <= rest) by (unfold rest; lia).
      destruct (Z.leb_spec (2 ^ Z.min k w) (rest + rest)); [lia|]. destruct (Z.leb_spec (2 ^ k) (rest + rest)); [lia|]. reflexivity.
Qed.

Lemma sign_is : T (sum_sign_formula d x) = sign_of (rho c) n ts (counts d ts).
Proof.
  unfold T, sum_sign_formula, sign_of. cbn [truth]. rewrite !truth_all, !truth_any, truth_constant. cbn [value n_term]. fold n. fold c.
  assert (NTH : T (n_zero x) = (n =? 0)) by reflexivity. unfold T in NTH. rewrite NTH.
  assert (A : forallb (Z.eqb 0) (counts d ts) = forallb (truth m v) (map (fun a => Equal (U (aligned a)) (Num_ 0)) (addends x))).
  { rewrite counts_is, !forallb_map. apply forallb_ext. intros a. cbn [truth value]. unfold with_sign. destruct (v (sign (of a)) =? 1); lia. }
  assert (B : forallb neg ts = forallb (truth m v) (map (fun r => Is (sign r)) (numbers_of x))).
  { unfold ts. rewrite !forallb_map. reflexivity. }
  assert (D : forallb (fun t => negb (neg t)) ts = forallb (truth m v) (map (fun r => Negation (Is (sign r))) (numbers_of x))).
  { unfold ts. rewrite !forallb_map. reflexivity. }
  assert (F : existsb neg ts = existsb (truth m v) (map (fun r => Is (sign r)) (numbers_of x))).
  { unfold ts. rewrite !existsb_map. reflexivity. }
  rewrite A, B, D, F. destruct (n =? 0); cbn [negb andb orb]; [|now rewrite orb_false_r].
  match goal with |- context [if ?b then _ else _] => destruct b end; cbn [negb andb orb]; rewrite ?orb_false_r; auto; now destruct (rho c).
Qed.

Lemma sum_is : exists s, s = sign_of (rho c) n ts (counts d ts) /\ sum_numbers d ts = convert c s n (E - f).
Proof.
  exists (sign_of (rho c) n ts (counts d ts)). split; auto. destruct ok_parts as [Fb [Al [Cb _]]]. destruct n_is as [N _].
  assert (TO : total d ts = n) by (unfold total; rewrite Cb, counts_is; now rewrite N).
  unfold sum_numbers. rewrite TO. fold c. unfold unit_of. rewrite Fb. destruct largest_is as [L|[L H]]; rewrite L; auto.
  assert (Z0 : n = 0).
  { rewrite N. assert (Q : forall a, In a (addends x) -> v (aligned a) = 0).
    { intros a A. apply (aligned_is a A). apply (all_zero_absent H). rewrite ts_is. now apply (in_map (fun a => num_in v (of a))). }
    clear -Q. induction (addends x) as [|a l IH]; auto. cbn [map zsum fold_right]. rewrite Q by (now left). unfold zsum in IH. rewrite IH by (intros; apply Q; now right).
    unfold with_sign. now destruct (_ =? 1). }
  rewrite Z0. apply convert_zero.
Qed.
End Finite.

Lemma outcome_nth k q : nth_error (outcome_claims d x) k = Some q -> forallb T (given q) = true -> T (goal q) = true.
Proof. intros N G. apply use; auto. apply in_outcome. eapply nth_error_In; eauto. Qed.

(** What is known of the cut points where no term is special. *)
Definition usual : list formula := [Negation (is_nan x); Negation (is_inf x); Either (Negation (n_zero x)) (null x); Either (n_zero x) (normal d x)].

Lemma usual_true : (v (nan (outcome x)) =? 1) = false -> T (is_inf x) = false -> forallb T usual = true.
Proof.
  intros N I. destruct (special_values m v d (numbers_of x)) as [_ [_ FI]].
  assert (R1 : (v (nan (outcome x)) =? 1) = T (is_nan x)).
  { pose proof (outcome_nth 0%nat _ eq_refl eq_refl) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. now apply eqb_prop in H. }
  rewrite N in R1. symmetry in R1. assert (R2 := R1). assert (I2 := I). unfold T in R2, I2. destruct (FI R2 I2) as [FIN _].
  pose proof (kept_is FIN) as KF. set (n := sg (width_in m (total_node x)) (v (total_node x))) in *.
  assert (NZ : T (n_zero x) = (n =? 0)) by reflexivity.
  assert (U1 : T (Either (Negation (n_zero x)) (null x)) = true).
  { unfold T; cbn [truth]; fold T. rewrite NZ. destruct (Z.eqb_spec n 0) as [Q|Q]; auto. destruct (k_zero _ _ _ _ _ _ KF Q) as [K1 K2].
    unfold T; cbn [truth null value]. rewrite K1, K2. reflexivity. }
  assert (U2 : T (Either (n_zero x) (normal d x)) = true).
  { unfold T; cbn [truth]; fold T. rewrite NZ. destruct (Z.eqb_spec n 0) as [Q|Q]; auto. destruct (k_top _ _ _ _ _ _ KF Q) as [K|K];
    unfold T; cbn [truth normal value]; fold c. - apply Z.leb_le in K. rewrite K. reflexivity. - rewrite K. now rewrite orb_true_r. }
  unfold usual. cbn [forallb]. rewrite U1, U2. unfold T at 1 2. cbn [truth]. fold T. now rewrite R1, I.
Qed.

Theorem fused_sound : same_val (sum_values d (map (val_in v) (numbers_of x))) (val_in v (outcome x)).
Proof.
  destruct (special_values m v d (numbers_of x)) as [SN [SI FI]].
  assert (IN : T (is_nan x) = truth m v (any_of (map (fun r => Is (nan r)) (numbers_of x))) || (truth m v (plus_inf x) && truth m v (minus_inf x))) by reflexivity.
  assert (II : T (is_inf x) = truth m v (plus_inf x) || truth m v (minus_inf x)) by reflexivity.
  fold (plus_inf x) (minus_inf x) in SN, SI, FI. rewrite <- IN in SN, SI, FI. rewrite <- II in SI, FI.
  assert (R1 : (v (nan (outcome x)) =? 1) = T (is_nan x)).
  { pose proof (outcome_nth 0%nat _ eq_refl eq_refl) as H. cbn [goal] in H. unfold T in H. rewrite truth_iff in H. now apply eqb_prop in H. }
  unfold val_in at 2. rewrite R1. destruct (T (is_nan x)) eqn:QN. { now rewrite SN. }
  assert (NN : T (Negation (is_nan x)) = true) by (unfold T; cbn [truth]; fold T; now rewrite QN).
  destruct (T (is_inf x)) eqn:QI.
  { rewrite SI by auto. pose proof (outcome_nth 1%nat _ eq_refl) as H. cbn [given forallb goal] in H. rewrite NN, QI in H. specialize (H eq_refl).
    unfold T in H. cbn [truth] in H. apply andb_prop in H. destruct H as [H1 H2]. change (truth m v (Iff (Is (sign (outcome x))) (minus_inf x)) = true) in H2.
    rewrite truth_iff in H2. apply eqb_prop in H2. cbn [truth] in H2. rewrite H1, H2. reflexivity. }
  destruct (FI eq_refl eq_refl) as [FIN SUM]. rewrite SUM.
  destruct (sum_is FIN) as [s [SS ->]]. pose proof (kept_is FIN) as KF. set (n := sg (width_in m (total_node x)) (v (total_node x))) in *.
  destruct ok_parts as [_ [_ [_ [_ [P [M [Ti [BB _]]]]]]]].
  eapply same_val_trans. { apply (convert_result _ _ _ _ _ _ _ P M KF). }
  rewrite Ti. cbn [andb].
  assert (NI : T (Negation (is_inf x)) = true) by (unfold T; cbn [truth]; fold T; now rewrite QI).
  assert (NZ : T (n_zero x) = (n =? 0)) by reflexivity.
  assert (U1 : T (Either (Negation (n_zero x)) (null x)) = true).
  { unfold T; cbn [truth]; fold T. rewrite NZ. destruct (Z.eqb_spec n 0) as [Q|Q]; auto. destruct (k_zero _ _ _ _ _ _ KF Q) as [K1 K2].
    unfold T; cbn [truth null value]. rewrite K1, K2. reflexivity. }
  assert (U2 : T (Either (n_zero x) (normal d x)) = true).
  { unfold T; cbn [truth]; fold T. rewrite NZ. destruct (Z.eqb_spec n 0) as [Q|Q]; auto. destruct (k_top _ _ _ _ _ _ KF Q) as [K|K];
    unfold T; cbn [truth normal value]; fold c. - apply Z.leb_le in K. rewrite K. reflexivity. - rewrite K. now rewrite orb_true_r. }
  set (kk := v (kept x)) in *. set (hh := v (height x)) in *. set (aw := (v (away x) =? 1)) in *.
  assert (GR : value m v (grown x) = kk + Z.b2z aw) by (unfold grown; cbn [value truth]; fold kk aw; now destruct aw).
  assert (CA : T (carried d x) = carries c kk aw) by (unfold T, carried, carries; cbn [truth]; rewrite GR; reflexivity).
  assert (RA : value m v (raised d x) = hh + Z.b2z (carries c kk aw)) by (unfold raised; cbn [value]; unfold T in CA; rewrite CA; fold hh; now destruct (carries c kk aw)).
  assert (ZF : T (zero_formula d x) = rounded_zero c false kk aw).
  { unfold T, zero_formula, rounded_zero; cbn [truth]. rewrite truth_constant, GR. cbn [value]. fold c. rewrite orb_false_r, <- Z.ltb_antisym. reflexivity. }
  assert (OF : T (over_formula d x) = overflows c kk hh aw).
  { unfold T, over_formula, overflows; cbn [truth]. rewrite GR, RA. cbn [value]. fold c. reflexivity. }
  assert (TI : T (to_infinity_formula d x) = to_infinity c (n <? 0)).
  { unfold T, to_infinity_formula, to_infinity. fold c. destruct (saturates c); [|reflexivity]. cbn [negb orb]. destruct (rho c); reflexivity. }
  assert (ZS : T (zero_sign_formula d x) = keeps_sign c (n =? 0) && s).
  { assert (SG : T (sum_sign_formula d x) = s) by (rewrite SS; exact (sign_is FIN)). unfold T in SG, NZ |- *. unfold zero_sign_formula, keeps_sign. fold c.
    destruct (zsign c); cbn [truth]; rewrite ?SG, ?NZ; auto. }
  set (ov := Both (Negation (zero_formula d x)) (Both (over_formula d x) (to_infinity_formula d x))).
  assert (OV : T ov = negb (rounded_zero c false kk aw) && (overflows c kk hh aw && to_infinity c (n <? 0))).
  { unfold ov, T in *. cbn [truth]. now rewrite ZF, OF, TI. }
  assert (R3 : (v (inf (outcome x)) =? 1) = T ov).
  { pose proof (outcome_nth 2%nat _ eq_refl) as H. cbn [given forallb goal] in H. rewrite NN, NI, U1, U2 in H. specialize (H eq_refl).
    unfold T in H. rewrite truth_iff in H. now apply eqb_prop in H. }
  assert (R4 : (v (sign (outcome x)) =? 1) = (rounded_zero c false kk aw && (keeps_sign c (n =? 0) && s) || negb (rounded_zero c false kk aw) && (n <? 0))).
  { pose proof (outcome_nth 3%nat _ eq_refl) as H. cbn [given forallb goal] in H. rewrite NN, NI, U1, U2 in H. specialize (H eq_refl).
    unfold T in H. rewrite truth_iff in H. apply eqb_prop in H. cbn [truth value n_term] in H. fold n in H. unfold T in ZF, ZS. rewrite ZF, ZS in H. exact H. }
  unfold result. rewrite R3, OV. destruct (rounded_zero c false kk aw) eqn:QZ; cbn [negb andb orb] in R4 |- *.
  - assert (NO : T (Negation ov) = true) by (unfold T; cbn [truth]; fold T; rewrite OV; reflexivity).
    pose proof (outcome_nth 4%nat _ eq_refl) as H4. cbn [given forallb goal] in H4. fold ov in H4. rewrite NO, NN, NI, U1, U2 in H4. specialize (H4 eq_refl).
    pose proof (outcome_nth 5%nat _ eq_refl) as H5. cbn [given forallb goal] in H5. fold ov in H5. rewrite NO, NN, NI, U1, U2 in H5. specialize (H5 eq_refl).
    unfold T in H4, H5, ZF. cbn [truth value exponent] in H4, H5. rewrite ZF in H4, H5. apply Z.eqb_eq in H4, H5. fold c in H5.
    rewrite orb_false_r in R4. unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split.
  - destruct (overflows c kk hh aw) eqn:QO; cbn [andb].
    + destruct (to_infinity c (n <? 0)) eqn:QT. { simpl. now rewrite R4. }
      assert (NO : T (Negation ov) = true) by (unfold T; cbn [truth]; fold T; rewrite OV; reflexivity).
      pose proof (outcome_nth 4%nat _ eq_refl) as H4. cbn [given forallb goal] in H4. fold ov in H4. rewrite NO, NN, NI, U1, U2 in H4. specialize (H4 eq_refl).
      pose proof (outcome_nth 5%nat _ eq_refl) as H5. cbn [given forallb goal] in H5. fold ov in H5. rewrite NO, NN, NI, U1, U2 in H5. specialize (H5 eq_refl).
      unfold T in H4, H5, ZF, OF. cbn [truth value exponent] in H4, H5. rewrite ZF, OF in H4, H5. apply Z.eqb_eq in H4, H5. fold c in H4, H5.
      unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split.
    + assert (NO : T (Negation ov) = true) by (unfold T; cbn [truth]; fold T; rewrite OV; reflexivity).
      pose proof (outcome_nth 4%nat _ eq_refl) as H4. cbn [given forallb goal] in H4. fold ov in H4. rewrite NO, NN, NI, U1, U2 in H4. specialize (H4 eq_refl).
      pose proof (outcome_nth 5%nat _ eq_refl) as H5. cbn [given forallb goal] in H5. fold ov in H5. rewrite NO, NN, NI, U1, U2 in H5. specialize (H5 eq_refl).
      unfold T in H4, H5, ZF, OF, CA. cbn [truth value exponent] in H4, H5. rewrite ZF, OF, ?CA, ?GR, ?RA in H4, H5. apply Z.eqb_eq in H4, H5. fold c in H4, H5.
      unfold same_val, same, num_in; cbn [neg exp sig frac]. rewrite R4, H4, H5, BB. repeat split; try lia. unfold V, signed, lsb; cbn [neg sig exp frac]. do 2 f_equal. lia.
Qed.
End Sound.
