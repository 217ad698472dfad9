(** A unit of integers in a circuit: products and sums in enough bits, and the claims that make it compute what its
    design does. *)
From Coq Require Import ZArith List Bool Lia Psatz FMapPositive.
From TC Require Import IntegerDesign Bv Circuit.
Import ListNotations.
Open Scope Z_scope.

(** * The plan of a circuit *)

(** A number in sign and magnitude. *)
Record number := Number { sign : positive; magnitude : positive }.
(** The words of two factors, their magnitudes, and the product. *)
Record product := Factors { a_word : positive; b_word : positive; a_size : positive; b_size : positive; made : number }.

(** What is added, and the additions of a sum in two's complement. *)
Inductive part := OfProduct (k : nat) | OfC | OfSum (how : conversion) (added : additions) (made_of : number)
with additions := Addend (node : positive) (of : part) | Addition (node : positive) (l r : additions).

Record integer_plan := IntegerPlan { products : list product; c_word : positive; c_number : number; last : part; root : positive }.

Scheme part_ind' := Induction for part Sort Prop with additions_ind' := Induction for additions Sort Prop.
Combined Scheme parts_ind from part_ind', additions_ind'.

(** The sum of the specification that a part is. *)
Fixpoint sum_of (x : part) : sums :=
  match x with OfProduct k => Product k | OfC => C | OfSum how t _ => Sum how (addends t) end
with addends (t : additions) : list sums :=
  match t with Addend _ x => [sum_of x] | Addition _ l r => addends l ++ addends r end.

(** * Claims *)

Section Claims.
Variables (m : widths) (d : integer_design) (p : integer_plan).

Definition differ (a b : formula) : formula := Negation (Either (Both a b) (Both (Negation a) (Negation b))).
Definition iff (a b : formula) : formula := Either (Both a b) (Both (Negation a) (Negation b)).
Definition within (bound : Z) (t : term) : formula := Both (AtMost (Num_ (- bound)) t) (AtMost t (Num_ bound)).

Definition negative (f : integers) (word : positive) : formula :=
  if signed f then Less (Sg word) (Num_ 0) else Negation (Equal (Num_ 0) (Num_ 0)).
Definition size_term (f : integers) (word : positive) : term := if signed f then Abs (Sg word) else U word.
Definition number_term (r : number) : term := If (Is (sign r)) (Minus (Num_ 0) (U (magnitude r))) (U (magnitude r)).

Definition product_claims (q : product) : list claim :=
  [Claim [] (Equal (U (a_size q)) (size_term (a_format d) (a_word q)));
   Claim [] (Equal (U (b_size q)) (size_term (b_format d) (b_word q)));
   Claim [] (iff (Is (sign (made q))) (differ (negative (a_format d) (a_word q)) (negative (b_format d) (b_word q))));
   Claim [] (Equal (U (magnitude (made q))) (Times (U (a_size q)) (U (b_size q))))].
Definition c_claims : list claim :=
  [Claim [] (iff (Is (sign (c_number p))) (negative (c_format d) (c_word p)));
   Claim [] (Equal (U (magnitude (c_number p))) (size_term (c_format d) (c_word p)))].

Definition absent : product := Factors 1 1 1 1 (Number 1 1).
Definition number_in (x : part) : number :=
  match x with OfProduct k => made (nth k (products p) absent) | OfC => c_number p | OfSum _ _ r => r end.
Definition width_of (r : number) : Z := width_in m (magnitude r).

Definition node_of (t : additions) : positive := match t with Addend n _ | Addition n _ _ => n end.
Fixpoint bound (t : additions) : Z :=
  match t with Addend _ x => 2 ^ width_of (number_in x) - 1 | Addition _ l r => bound l + bound r end.
Definition bounded (t : additions) : formula := within (bound t) (Sg (node_of t)).

(** The bits of a term from 0 on: 2^above is added to it, that it is not negative. *)
Definition low_bits (above bits : Z) (t : term) : term := Bits 0 bits (Plus t (Num_ (2 ^ Z.max bits above))).
Definition converted_term (how : conversion) (t : additions) : term :=
  let f := into how in let n := Sg (node_of t) in
  if saturates how then
    let hi := least f + count f - 1 in If (Less n (Num_ (least f))) (Num_ (least f)) (If (Less (Num_ hi) n) (Num_ hi) n)
  else
    let x := low_bits (width_in m (node_of t)) (size f) n in
    if signed f then If (AtMost (Num_ (2 ^ (size f - 1))) x) (Minus x (Num_ (2 ^ size f))) x else x.

Fixpoint part_claims (x : part) : list claim :=
  match x with
  | OfSum how t r => addition_claims t ++ [Claim [bounded t] (Equal (number_term r) (converted_term how t))]
  | _ => []
  end
with addition_claims (t : additions) : list claim :=
  match t with
  | Addend n x => part_claims x ++ [Claim [] (Equal (Sg n) (number_term (number_in x)))]
  | Addition n l r =>
      addition_claims l ++ addition_claims r ++
      [Claim [bounded l; bounded r] (Equal (Sg n) (Plus (Sg (node_of l)) (Sg (node_of r))))]
  end.

Definition integer_claims : list claim :=
  flat_map product_claims (products p) ++ c_claims ++ part_claims (last p) ++
  [Claim [] (Equal (U (root p)) (low_bits (width_of (number_in (last p))) (size (d_format d)) (number_term (number_in (last p)))))].

(** * What is checked of a plan *)

Definition in_circuit (i : positive) : bool := PositiveMap.mem i m.
Definition word_ok (f : integers) (i : positive) : bool := in_circuit i && (1 <=? size f) && (width_in m i =? size f).
Definition product_ok (q : product) : bool := word_ok (a_format d) (a_word q) && word_ok (b_format d) (b_word q).
Fixpoint part_ok (x : part) : bool :=
  match x with
  | OfProduct k => (k <? length (products p))%nat
  | OfC => true
  | OfSum how t _ => (1 <=? size (into how)) && additions_ok t
  end
with additions_ok (t : additions) : bool :=
  match t with
  | Addend _ x => in_circuit (magnitude (number_in x)) && part_ok x
  | Addition _ l r => additions_ok l && additions_ok r
  end.
Definition plan_ok : bool :=
  forallb product_ok (products p) && word_ok (c_format d) (c_word p) && (1 <=? size (d_format d)) && part_ok (last p).
End Claims.

Definition integer_ok (ct : circuit) (d : integer_design) (p : integer_plan) : bool := circuit_ok ct && plan_ok (widths_of ct) d p.

(** * The claims are enough *)

Lemma wrapped_signed f x : 1 <= size f -> inw (size f) x -> signed f = true -> wrapped (least f) (count f) x = sg (size f) x.
Proof.
  intros W [L H] S. unfold least, count, wrapped, sg. rewrite S.
  assert (E : 2 ^ size f = 2 * 2 ^ (size f - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  destruct (Z.ltb_spec x (2 ^ (size f - 1))).
  - rewrite Z.mod_small; lia.
  - replace (x - - 2 ^ (size f - 1)) with (x - 2 ^ (size f - 1) + 1 * 2 ^ size f) by lia.
    rewrite Z.mod_add, Z.mod_small; lia.
Qed.

Lemma wrapped_unsigned f x : inw (size f) x -> signed f = false -> wrapped (least f) (count f) x = x.
Proof. intros [L H] S. unfold least, count, wrapped. rewrite S, Z.mod_small; lia. Qed.

Lemma raised_mod x bits above : 0 <= bits -> (x + 2 ^ Z.max bits above) mod 2 ^ bits = x mod 2 ^ bits.
Proof.
  intros B. replace (Z.max bits above) with (Z.max bits above - bits + bits) by lia.
  rewrite Z.pow_add_r by lia. apply Z.mod_add. pose proof (p2 bits B). lia.
Qed.

Section Sound.
Variables (ct : circuit) (d : integer_design) (p : integer_plan) (v : env).
Let m := widths_of ct.
Hypothesis OK : integer_ok ct d p = true.
Hypothesis SOL : solution ct v.
Hypothesis CL : Forall (holds ct) (integer_claims m d p).

Lemma circuit_is_ok : circuit_ok ct = true.
Proof. unfold integer_ok in OK. rewrite andb_true_iff in OK. tauto. Qed.

Lemma is_fit i : in_circuit m i = true -> inw (width_in m i) (v i).
Proof.
  unfold in_circuit. intros H. apply (solution_fits ct v circuit_is_ok SOL). clear -H.
  assert (G : forall c k, PositiveMap.mem i (fold_left (fun a n => PositiveMap.add (name n) (width n) a) c k) = true -> In i (map name c) \/ PositiveMap.mem i k = true).
  { induction c as [|n c IH]; intros k G; simpl in *; auto. destruct (IH _ G) as [I|I]; auto.
    destruct (Pos.eq_dec i (name n)) as [->|D]; auto. rewrite PositiveMap.mem_find, PositiveMap.gso, <- PositiveMap.mem_find in I by easy. auto. }
  destruct (G _ _ H) as [I|I]; auto. rewrite PositiveMap.mem_find, PositiveMap.gempty in I. easy.
Qed.

Lemma true_of q : holds ct q -> forallb (truth m v) (given q) = true -> truth m v (goal q) = true.
Proof. intros H. exact (H v SOL). Qed.

(** A word's number in sign and magnitude. *)
Lemma word_number f i : word_ok m f i = true ->
  number_of f (v i) = if truth m v (negative f i) then - value m v (size_term f i) else value m v (size_term f i).
Proof.
  unfold word_ok, negative, size_term, number_of. rewrite !andb_true_iff, Z.leb_le, Z.eqb_eq. intros [[I W] E].
  pose proof (is_fit i I) as F. rewrite E in F. destruct (signed f) eqn:S; cbn [truth value].
  - rewrite E, (wrapped_signed f _ W F S). destruct (Z.ltb_spec (sg (size f) (v i)) 0); lia.
  - now apply wrapped_unsigned.
Qed.

Definition number_value (r : number) : Z := value m v (number_term r).

Lemma number_is r : number_value r = if v (sign r) =? 1 then - v (magnitude r) else v (magnitude r).
Proof. unfold number_value, number_term. cbn [value truth]. now destruct (v (sign r) =? 1). Qed.

Lemma truth_iff a b : truth m v (iff a b) = Bool.eqb (truth m v a) (truth m v b).
Proof. simpl. now destruct (truth m v a), (truth m v b). Qed.

Lemma product_sound q : product_ok m d q = true -> Forall (holds ct) (product_claims d q) ->
  number_value (made q) = number_of (a_format d) (v (a_word q)) * number_of (b_format d) (v (b_word q)).
Proof.
  unfold product_ok. rewrite andb_true_iff. intros [A B] H. rewrite (word_number _ _ A), (word_number _ _ B).
  inversion H as [|? ? H1 T1]; subst. inversion T1 as [|? ? H2 T2]; subst. inversion T2 as [|? ? H3 T3]; subst. inversion T3 as [|? ? H4 _]; subst.
  apply true_of in H1, H2, H3, H4; try reflexivity. cbn [goal] in *. rewrite truth_iff in H3. apply eqb_prop in H3.
  cbn [truth value] in H1, H2, H4. apply Z.eqb_eq in H1, H2, H4. rewrite number_is, H4, <- H1, <- H2.
  cbn [truth] in H3. rewrite H3. unfold differ. cbn [truth].
  destruct (truth m v (negative (a_format d) (a_word q))), (truth m v (negative (b_format d) (b_word q))); simpl; ring.
Qed.

Lemma c_sound : word_ok m (c_format d) (c_word p) = true -> Forall (holds ct) (c_claims d p) ->
  number_value (c_number p) = number_of (c_format d) (v (c_word p)).
Proof.
  intros C H. rewrite (word_number _ _ C). inversion H as [|? ? H1 T1]; subst. inversion T1 as [|? ? H2 _]; subst.
  apply true_of in H1, H2; try reflexivity. cbn [goal] in *. rewrite truth_iff in H1. apply eqb_prop in H1.
  cbn [truth value] in H2. apply Z.eqb_eq in H2. rewrite number_is, H2. cbn [truth] in H1. now rewrite H1.
Qed.

Lemma converted_is how t : 1 <= size (into how) ->
  value m v (converted_term m how t) = converted how (sg (width_in m (node_of t)) (v (node_of t))).
Proof.
  intros W. unfold converted_term, converted. set (n := sg (width_in m (node_of t)) (v (node_of t))).
  assert (E : 2 ^ size (into how) = 2 * 2 ^ (size (into how) - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (P : 0 < 2 ^ (size (into how) - 1)) by (apply p2; lia). destruct (saturates how).
  - cbn [value truth]. fold n. unfold saturated. assert (M : 0 < count (into how)) by (unfold count; lia).
    set (lo := least (into how)). set (k := count (into how)) in *. destruct (Z.ltb_spec n lo); [lia|]. destruct (Z.ltb_spec (lo + k - 1) n); lia.
  - assert (L : value m v (low_bits (width_in m (node_of t)) (size (into how)) (Sg (node_of t))) = n mod 2 ^ size (into how)).
    { unfold low_bits. cbn [value]. fold n. rewrite Z.pow_0_r, Z.div_1_r. apply raised_mod. lia. }
    unfold wrapped, least, count. assert (B : 0 <= n mod 2 ^ size (into how) < 2 ^ size (into how)) by (apply Z.mod_pos_bound; lia).
    pose proof (Z.div_mod n (2 ^ size (into how))) as Q. set (x := n mod 2 ^ size (into how)) in *.
    destruct (signed (into how)).
    + cbn [value truth]. rewrite L. replace (n - - 2 ^ (size (into how) - 1)) with (x + 2 ^ (size (into how) - 1) + n / 2 ^ size (into how) * 2 ^ size (into how)) by lia.
      rewrite Z.mod_add by lia. destruct (Z.leb_spec (2 ^ (size (into how) - 1)) x).
      * replace (x + 2 ^ (size (into how) - 1)) with (x - 2 ^ (size (into how) - 1) + 1 * 2 ^ size (into how)) by lia.
        rewrite Z.mod_add, Z.mod_small; lia.
      * rewrite Z.mod_small; lia.
    + rewrite L. unfold x. rewrite Z.sub_0_r. lia.
Qed.

(** The numbers of the products and of c. *)
Let ns : list Z := map (fun q => number_value (made q)) (products p).
Let c : Z := number_value (c_number p).

Lemma total_app l k : total (l ++ k) = total l + total k.
Proof. unfold total. induction l; simpl; lia. Qed.

Lemma parts_sound :
  (forall x, part_ok m p x = true -> Forall (holds ct) (part_claims m p x) -> number_value (number_in p x) = result ns c (sum_of x)) /\
  (forall t, additions_ok m p t = true -> Forall (holds ct) (addition_claims m p t) ->
     let n := sg (width_in m (node_of t)) (v (node_of t)) in n = total (map (result ns c) (addends t)) /\ - bound m p t <= n <= bound m p t).
Proof.
  apply parts_ind; cbn [part_ok additions_ok part_claims addition_claims number_in sum_of addends result node_of bound].
  - intros k K _. apply Nat.ltb_lt in K. unfold ns. rewrite (nth_indep _ 0 (number_value (made absent))) by now rewrite map_length.
    now rewrite (map_nth (fun q => number_value (made q))).
  - reflexivity.
  - intros how t IH r K H. rewrite andb_true_iff, Z.leb_le in K. destruct K as [W K]. rewrite Forall_app in H. destruct H as [H1 H2].
    destruct (IH K H1) as [E B]. inversion H2 as [|? ? H _]; subst. apply true_of in H.
    + cbn [goal truth] in H. apply Z.eqb_eq in H. fold (number_value r) in H. rewrite H, converted_is by easy. now rewrite E.
    + cbn [given forallb]. unfold bounded, within. cbn [truth value]. rewrite !andb_true_iff, !Z.leb_le. repeat split; try apply B.
  - intros n x IH K H. rewrite andb_true_iff in K. destruct K as [I K]. rewrite Forall_app in H. destruct H as [H1 H2].
    inversion H2 as [|? ? H _]; subst. apply true_of in H; [|reflexivity]. cbn [goal truth] in H. apply Z.eqb_eq in H. cbn [value] in H.
    change (value m v (number_term (number_in p x))) with (number_value (number_in p x)) in H. cbv zeta. rewrite H. split.
    + rewrite (IH K H1). unfold total. simpl. lia.
    + rewrite number_is. pose proof (is_fit _ I) as [F1 F2]. unfold width_of. destruct (v (sign _) =? 1); lia.
  - intros n l IL r IR K H. rewrite andb_true_iff in K. destruct K as [K1 K2]. rewrite !Forall_app in H. destruct H as [H1 [H2 H3]].
    destruct (IL K1 H1) as [E1 B1], (IR K2 H2) as [E2 B2]. inversion H3 as [|? ? H _]; subst. apply true_of in H.
    + cbn [goal truth value] in H. apply Z.eqb_eq in H. cbv zeta. rewrite H, map_app, total_app, <- E1, <- E2. split; [reflexivity|lia].
    + cbn [given forallb]. unfold bounded, within. cbn [truth value]. rewrite !andb_true_iff, !Z.leb_le. repeat split; try apply B1; apply B2.
Qed.

Lemma combined {A} (f g : A -> Z) l : combine (map f l) (map g l) = map (fun x => (f x, g x)) l.
Proof. induction l; simpl; f_equal; auto. Qed.

Theorem integer_sound : sum_of (last p) = summed d ->
  v (root p) = compute d (map (fun q => v (a_word q)) (products p)) (map (fun q => v (b_word q)) (products p)) (v (c_word p)).
Proof.
  intros SH. pose proof OK as K. unfold integer_ok, plan_ok in K. rewrite !andb_true_iff, Z.leb_le in K. destruct K as [_ [[[PO CO] W] LO]].
  pose proof CL as H. unfold integer_claims in H. rewrite !Forall_app in H. destruct H as [HP [HC [HL HR]]].
  inversion HR as [|? ? H _]; subst. apply true_of in H; [|reflexivity]. cbn [goal truth value] in H. apply Z.eqb_eq in H. rewrite H.
  unfold low_bits. cbn [value]. rewrite Z.pow_0_r, Z.div_1_r, raised_mod by lia. fold (number_value (number_in p (last p))).
  rewrite (proj1 parts_sound (last p) LO HL). unfold compute, word_of, count. rewrite <- SH, combined, map_map. do 2 f_equal.
  - unfold ns. apply map_ext_in. intros q I. cbn [fst snd]. rewrite forallb_forall in PO. apply product_sound; auto.
    rewrite Forall_flat_map, Forall_forall in HP. now apply HP.
  - now apply c_sound.
Qed.
End Sound.

(** A unit of integers computes what its design does, for all words; the claims are those that were certified. *)
Theorem integer_words_to_words ct d p certified : integer_ok ct d p = true -> sum_of (last p) = summed d ->
  claims_eqb (integer_claims (widths_of ct) d p) certified = true -> Forall (holds ct) certified ->
  forall v, solution ct v ->
  v (root p) = compute d (map (fun q => v (a_word q)) (products p)) (map (fun q => v (b_word q)) (products p)) (v (c_word p)).
Proof. intros OK SH E CL v SOL. rewrite <- (claims_are _ _ E) in CL. now apply (integer_sound ct). Qed.
